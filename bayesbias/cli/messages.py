"""Messages that name arguments of Python functions, in the words of the command line."""

from __future__ import annotations

import re
from collections.abc import Sequence

import click

#: Functions that messages advise to call, and the commands that do the same.
_COMMANDS = {"distance_table": "table"}

_ARGUMENT = re.compile(r"\b([a-z]\w*)=('[^']*'|\[[^\[\]]*\]|…|[\w.:+-]*\w)")
#: A call with its arguments, which are not those of the command; or an argument in a sentence, but
#: not in the name of a file.
_ADVICE = re.compile(rf"(\w[\w.]*)\(([^()]*)\)|(?<![\w.'/\\-]){_ARGUMENT.pattern}(?![\w/\\])")
_SUBJECT = re.compile(r"'([a-z]\w*)'(?= has | holds | is (?!not ))")


def in_options(message: str, root: click.Group, arguments: Sequence[str]) -> str:
    """Return a message with options in place of the Python arguments that it names.

    Parameters
    ----------
    message : str
        What an error or a warning of the package says.
    root : Group
        The group of all commands.
    arguments : sequence of str
        Those of the command line, which say what command was run.
    """
    command = _command(root, arguments)

    def replaced(found: re.Match[str]) -> str:
        function, inside, name, value = found.groups()
        if function is None:
            return _option(command, name, value) or found[0]
        other = root.commands.get(_COMMANDS.get(function, ""))
        if other is None:
            return found[0]
        options = [_option(other, *pair) for pair in _ARGUMENT.findall(inside)]
        return " ".join([f"bayesbias {other.name}", *filter(None, options)])

    translated = _ADVICE.sub(replaced, message)
    subject = _SUBJECT.match(translated)
    option = subject and _option_of(command, subject[1])
    return f"{_longest(option)}{translated[subject.end() :]}" if option and subject else translated


def _command(root: click.Group, arguments: Sequence[str]) -> click.Command:
    """Return the command that the arguments name; the options of groups have no values."""
    command: click.Command = root
    for argument in arguments:
        if not isinstance(command, click.Group):
            break
        command = command.commands.get(argument, command)
    return command


def _option_of(command: click.Command, name: str) -> click.Option | None:
    options = (param for param in command.params if isinstance(param, click.Option))
    return next((option for option in options if option.name == name), None)


def _option(command: click.Command, name: str, value: str) -> str:
    """Return an option as one types it; nothing if the command does not have it."""
    option = _option_of(command, name)
    if option is None or (option.is_flag and value != "True"):
        return ""
    if option.is_flag:
        return _longest(option)
    values = value.strip("[]").split(", ") if value.startswith("[") else [value]
    return " ".join(f"{_longest(option)} {_typed(one)}" for one in values)


def _longest(option: click.Option) -> str:
    return max(option.opts, key=len)


def _typed(value: str) -> str:
    """Return a value without the quotation marks of Python, unless a shell needs them too."""
    plain = value.strip("'")
    return plain if re.fullmatch(r"[\w.:/+…-]+", plain) else value
