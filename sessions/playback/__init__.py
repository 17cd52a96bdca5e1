"""Operations on finished recordings: replay, verify, compare, trim."""
