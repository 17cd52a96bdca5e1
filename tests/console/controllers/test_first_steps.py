"""Three tasks, one key each, offered until the first of them is done."""

import pytest

from console.controllers.first_steps import losing
from tests.console.driving import console
from tests.console.libraries import failing_over
from tests.support.script_events import viewed


@pytest.mark.parametrize("mode", ["--version 2.4", "--version 4.1"])
def test_the_statements_that_are_offered_lose_a_record(mode: str) -> None:
    steps = losing(1).replace("; ", "\n")
    view = viewed(f"cluster --brokers 3 {mode}\n{steps}\nwait 20s\n")
    assert view.counts().lost_records == 1


async def test_each_key_does_its_task_and_the_offer_is_gone() -> None:
    with failing_over() as source:
        async with console(source) as driven:
            offers = [driven.app.stage.offers_tasks]
            await driven.press("f2")
            assert driven.screen.context == "faults"
            assert "── faults of broker" in driven.text()
            offers.append(driven.app.stage.offers_tasks)
            assert offers == [True, False]
            await driven.press("escape", "f4")
            assert driven.screen.context == "event"
            await driven.press("escape", "f3")
            assert "produce precious --value gone" in driven.screen.prompt.input.value
