from threading import Event

from console.model.background_job import Job, Tell


def test_work_is_done_beside_everything_else() -> None:
    begun, go_on = Event(), Event()

    def work(tell: Tell) -> str:
        tell("half \n way")
        begun.set()
        go_on.wait(10)
        return "there"

    job = Job("walking", work)
    begun.wait(10)
    assert (job.done, job.progress, job.outcome) == (False, "half way", "")
    go_on.set()
    job.wait(10)
    assert (job.done, job.outcome, job.failed) == (True, "there", False)


def test_what_goes_wrong_is_its_outcome() -> None:
    def work(tell: Tell) -> str:
        raise OSError("no room")

    job = Job("writing", work)
    job.wait(10)
    assert (job.failed, job.outcome) == (True, "no room")


def test_an_error_without_words_is_told_by_its_name() -> None:
    def work(tell: Tell) -> str:
        raise KeyError

    job = Job("looking", work)
    job.wait(10)
    assert job.outcome == "KeyError"
