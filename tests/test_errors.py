"""The contract between errors and exit codes that scripts rely on."""

import pytest

from maskedadv import errors
from maskedadv.cli.main import main


def test_every_error_has_an_exit_code_of_its_kind() -> None:
    named = [e for e in vars(errors).values() if isinstance(e, type) and issubclass(e, errors.MaskedadvError)]
    assert named
    for error in named:
        assert error.exit_code == (2 if issubclass(error, errors.InputError) else 1), error


def test_an_unknown_command_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["no-such-command"])
    assert left.value.code == 2
    assert "No such command" in capsys.readouterr().err
