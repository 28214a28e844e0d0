"""The operations of a study over JSON.

One table. The server's routes, the checks and limits of every field, the description of the API and the client's
requests are made from it, so that none can say what another does not.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, get_args
from urllib.parse import parse_qsl

from surefoot.core.record import Record
from surefoot.errors import StudyError
from surefoot.study.clips import LONGEST_LINK, Clip
from surefoot.study.events import Role
from surefoot.study.recording import Ended, RefusedError
from surefoot.study.stores import StoreError, TimeLimitError

AWAY = 503
STATUS = {"unknown": 404, "invalid": 422, "role": 403}
"""The HTTP status of each reason for which a study refuses; 409, somebody was faster, of the others."""


class Refusal(Exception):  # noqa: N818 - a polite answer, not a fault
    """A request that is not carried out: a status, a sentence, and what to do."""

    def __init__(self, status: int, message: str, hint: str = "", *, wait: float = 0.0, why: str = "") -> None:
        """Refuse with an HTTP status; `wait` is after how many seconds to try again, `why` the study's own reason."""
        super().__init__(message)
        self.status, self.message, self.hint, self.wait, self.why = status, message, hint, wait, why
        self.late = False  # whether the store gave no answer in time, so that to ask again at once is in vain

    @classmethod
    def of(cls, error: RefusedError) -> Refusal:
        """What a study refuses, as the server says it."""
        return cls(STATUS.get(error.why, 409), error.message, error.hint, why=error.why)

    def again(self) -> Refusal:
        """The same, for somebody else."""
        other = Refusal(self.status, self.message, self.hint, wait=self.wait, why=self.why)
        other.late = self.late
        return other

    @property
    def body(self) -> dict[str, Any]:
        """What the API answers."""
        more = {"hint": self.hint, "why": self.why}
        return {"error": self.message} | {name: word for name, word in more.items() if word}

    @property
    def headers(self) -> dict[str, str]:
        """What goes with it."""
        headers = {"Retry-After": str(int(self.wait) + 1)} if self.wait else {}
        return headers | ({"WWW-Authenticate": "Bearer"} if self.status == 401 else {})


def away(error: StoreError) -> Refusal:
    """The store cannot be used now."""
    refusal = Refusal(AWAY, str(error), "Your entry is kept on your device; send it again.", wait=2)
    refusal.late = isinstance(error, TimeLimitError)
    return refusal


def plain(record: Record) -> dict[str, Any]:
    """A record as the API sends it: its fields, without type and schema."""
    answer: dict[str, Any] = _plain(record.to_dict())
    return answer


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        marked = "type" in value and "schema" in value
        return {name: _plain(item) for name, item in value.items() if not (marked and name in ("type", "schema"))}
    return [_plain(item) for item in value] if isinstance(value, list) else value


BASE = "/api/v1"
LARGEST = 1e12
MOST_AHEAD = 20
LONG = 500
"""Characters from which a text may have several lines; what is shorter is a name or a word."""
MOST_LINES = 1_000_000_000
Kind = Literal["text", "texts", "whole", "number", "result", "mapping", "clip"]


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a request's body.

    Attributes:
        name: Its name.
        kind: What it holds.
        tells: What it means.
        required: Whether it must be given.
        least: The least number.
        most: The largest number, the longest text, or the most texts.
        options: The words that it may be, when only these.
    """

    name: str
    kind: Kind = "text"
    tells: str = ""
    _: KW_ONLY
    required: bool = False
    least: float = 0
    most: float = 200
    options: tuple[str, ...] = ()

    def read(self, value: Any) -> Any:
        """The value, checked; when it is absent, an empty text or list, or None."""
        if value is None:
            if self.required:
                raise Refusal(422, f"`{self.name}` must be given.")
            return {"text": "", "texts": []}.get(self.kind)
        return getattr(self, f"_{self.kind}")(value)

    def _text(self, value: Any) -> str:
        if not isinstance(value, str):
            raise Refusal(422, f"`{self.name}` must be a text; got {_shown(value)}.")
        value = clean(value, self.name, lines=self.most >= LONG).strip()
        if len(value) > self.most:
            raise Refusal(422, f"`{self.name}` must have at most {self.most:g} characters; got {len(value)}.")
        if self.required and not value:
            raise Refusal(422, f"`{self.name}` must be given; it is kept in the log.")
        if self.options and value and value not in self.options:
            raise Refusal(422, f"`{self.name}` must be one of {', '.join(self.options)}; got {_shown(value)}.")
        return str(value)

    def _texts(self, value: Any) -> list[str]:
        if not isinstance(value, list) or len(value) > self.most or not all(isinstance(item, str) for item in value):
            raise Refusal(422, f"`{self.name}` must be a list of at most {self.most:g} texts; got {_shown(value)}.")
        if any(len(item) > 200 for item in value):
            raise Refusal(422, f"`{self.name}` must hold texts of at most 200 characters.")
        return [clean(item, self.name) for item in value]

    def _whole(self, value: Any) -> int:
        if isinstance(value, float) and value.is_integer():  # to JSON, 2.0 and 2 are one number
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not self.least <= value <= self.most:
            message = f"`{self.name}` must be a whole number from {self.least:g} to {self.most:.0f}"
            raise Refusal(422, f"{message}; got {_shown(value)}.")
        return value

    def _number(self, value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not self.least <= value <= self.most:
            raise Refusal(
                422, f"`{self.name}` must be a number from {self.least:g} to {self.most:g}; got {_shown(value)}."
            )
        return float(value)

    def _result(self, value: Any) -> Any:
        return value  # the plan knows which there are

    def _mapping(self, value: Any) -> dict[str, Any]:
        if not isinstance(value, dict) or not value:
            raise Refusal(422, f"`{self.name}` must be an object of names and values; got {_shown(value)}.")
        return value

    def _clip(self, value: Any) -> Clip:
        try:
            found = Clip.of(value)
        except (StudyError, TypeError):
            found = Clip()
        if not (found.link or found.fault):
            hint = "Send a file by itself, once its result is recorded."
            raise Refusal(422, f"`{self.name}` must be a link, or why there is none; got {_shown(value)}.", hint)
        return found


@dataclass(frozen=True, slots=True)
class Operation:
    """One thing that can be asked of a study.

    Attributes:
        name: Its name; the service's method and the description use it.
        route: How and where it is asked: GET reads, POST changes; `{number}` is a turn's.
        tells: What it does.
        answer: What it answers: a schema's name, or a media type.
        fields: What its body may hold.
        roles: Who may ask; anybody with a token when empty.
        refusals: The statuses with which it may refuse, beyond those of every operation.
        file: Whether the body is a file; the fields are then in the address, behind `?`.
    """

    name: str
    route: str
    tells: str
    _: KW_ONLY
    answer: str = "Receipt"
    fields: tuple[Field, ...] = ()
    roles: tuple[Role, ...] = ()
    refusals: tuple[int, ...] = ()
    file: bool = False

    @property
    def method(self) -> str:
        """GET or POST."""
        return self.route.partition(" ")[0]

    @property
    def path(self) -> str:
        """Where it is asked, below the base."""
        return self.route.partition(" ")[2]

    def read(self, raw: bytes) -> dict[str, Any]:
        """The fields of a body, each checked.

        Raises:
            Refusal: It is not an object, has a field that nobody asked for, or one that is not what it must be.
        """
        return self.checked(parsed(raw))

    def checked(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """The same, of a body already parsed."""
        unknown = sorted(set(data) - {field.name for field in self.fields})
        if unknown:
            known = ", ".join(repr(field.name) for field in self.fields) or "none"
            raise Refusal(422, f"The request must use known fields only ({known}); got {', '.join(unknown)[:200]!r}.")
        return {field.name: field.read(data.get(field.name)) for field in self.fields}

    def asked(self, query: str) -> dict[str, Any]:
        """The fields behind the `?` of an address, each checked."""
        given: dict[str, Any] = form(query.encode("ascii", "replace"))
        for field in self.fields:
            word = given.get(field.name)
            if field.kind == "whole" and word is not None and word.isascii() and word.isdecimal() and len(word) < 10:
                given[field.name] = int(word)
        return self.checked(given)

    def at(self, number: int | None = None) -> str:
        """Its address, of a turn if it is about one."""
        return BASE + self.path.replace("{number}", str(number))


REASON = Field("reason", "text", "Why; kept in the log.", required=True, most=500)
HOLDER = Field("holder", "text", "The robot's name; a browser has its own.")
NOTE = Field("note", "text", "A remark, kept in the log.", most=2000)
REQUEST = Field(
    "request",
    "text",
    "A key of your choice for this request: sent again with the same key, it is not carried out twice.",
    most=100,
)
ATTEMPT = Field(
    "attempt",
    "whole",
    "Which attempt at this turn it is; refused with 409 when somebody else was first.",
    least=1,
    most=1_000_000,
)
VERSION = Field(
    "version",
    "whole",
    "The log's version you have seen; refused with 409 when the study has moved on.",
    least=1,
    most=MOST_LINES,
)
BUSY = (409,)
OF_A_TURN = (404, 409)
OWNER: tuple[Role, ...] = ("owner",)

_ALL = (
    Operation("openapi", "GET /openapi.json", "This description.", answer="object"),
    Operation("status", "GET /status", "Progress, and whether to go on.", answer="Status"),
    Operation("plan", "GET /plan", "The plan, amendments included.", answer="Plan"),
    Operation("turns", "GET /turns", "The turns being run now.", answer="Turns"),
    Operation(
        "next",
        "POST /turns/next",
        "The turn to run next, held for you.",
        answer="Next",
        refusals=BUSY,
        fields=(
            HOLDER,
            Field("rig", "text", "The rig where you stand: turns on others are left to others; any if left out."),
            Field("ahead", "whole", "Turns to hold in reserve, in case the connection is lost.", most=MOST_AHEAD),
            Field("lease", "number", "Seconds to hold them; one hour if left out.", least=1, most=86_400),
        ),
    ),
    Operation("turn", "GET /turns/{number}", "One turn that was handed out.", answer="Turn", refusals=(404,)),
    Operation(
        "record",
        "POST /turns/{number}/record",
        "Keep a turn's result, once.",
        refusals=OF_A_TURN,
        fields=(
            Field("result", "result", "Success, or a score in the plan's range; none where a stage is given."),
            Field("stage", "text", "How far it got, as a stage that the plan names."),
            Field("duration", "number", "Seconds that it took.", most=10_000_000),
            Field("steps", "whole", "Steps that it took.", most=MOST_LINES),
            NOTE,
            Field("failure", "text", "What went wrong."),
            REQUEST,
            ATTEMPT,
            HOLDER,
            Field("clip", "clip", "A link to its clip; or the file's name and why it cannot be sent."),
            Field("reason", "text", "Owner: why you record a turn that another holds; kept in the log.", most=500),
        ),
    ),
    Operation(
        "crash",
        "POST /turns/{number}/crash",
        "Say that a turn's rollout gave no result; the plan says what that counts as.",
        refusals=OF_A_TURN,
        fields=(
            Field("ended", "text", "How it ended.", options=tuple(get_args(Ended))[1:], required=True),
            NOTE,
            REQUEST,
            HOLDER,
        ),
    ),
    Operation(
        "clip",
        "POST /turns/{number}/clip",
        "Add a clip to a turn's result: the file, or a link.",
        refusals=OF_A_TURN,
        file=True,
        fields=(
            Field("name", "text", "The file's name."),
            Field("link", "text", "Where it is, in place of a file.", most=LONGEST_LINK),
            HOLDER,
            ATTEMPT,
        ),
    ),
    Operation(
        "download",
        "GET /turns/{number}/clip",
        "The file of a turn's clip, once the study is not blinded.",
        answer="application/octet-stream",
        refusals=(404,),
    ),
    Operation(
        "undo", "POST /turns/{number}/undo", "Take back a turn's result.", refusals=OF_A_TURN, fields=(REASON, ATTEMPT)
    ),
    Operation(
        "void",
        "POST /turns/{number}/void",
        "Declare that the turn's block does not count.",
        refusals=OF_A_TURN,
        fields=(Field("reason", "text", "One of the plan's reasons.", required=True), NOTE),
    ),
    Operation(
        "release",
        "POST /release",
        "Hand back turns that will not be run.",
        refusals=OF_A_TURN,
        fields=(
            Field(
                "holder",
                "text",
                "Whose turns; your own if left out. Those of another: only by the "
                "owner, or when the study waits for them.",
            ),
            Field("turn", "whole", "Only this turn.", least=1, most=MOST_LINES),
        ),
    ),
    Operation(
        "check",
        "POST /checks",
        "Log a session's checklist.",
        fields=(Field("items", "texts", "What was checked.", most=50), NOTE),
    ),
    Operation(
        "amend",
        "POST /amend",
        "Owner: change the plan.",
        refusals=BUSY,
        roles=OWNER,
        fields=(Field("changes", "mapping", "The plan's fields.", required=True), REASON, VERSION),
    ),
    Operation(
        "unblind",
        "POST /unblind",
        "Owner: reveal which policy each code meant.",
        refusals=BUSY,
        roles=OWNER,
        fields=(REASON, VERSION),
    ),
    Operation(
        "override",
        "POST /override",
        "Owner: go on although the rule has stopped for futility.",
        refusals=BUSY,
        roles=OWNER,
        fields=(REASON, VERSION),
    ),
    Operation(
        "withdraw",
        "POST /withdraw",
        "Owner: run a policy of a race no more.",
        refusals=BUSY,
        roles=OWNER,
        fields=(Field("policy", tells="Its name.", required=True), REASON),
    ),
    Operation("results", "GET /results", "Evidence and tallies, once the study is not blinded.", answer="Results"),
    Operation(
        "export",
        "GET /export",
        "Owner: the log as JSON lines, once the study is not blinded.",
        answer="application/jsonl",
        roles=OWNER,
        refusals=BUSY,
    ),
    Operation("events", "GET /events", "Progress as server-sent events.", answer="text/event-stream"),
)
OPERATIONS = {one.name: one for one in _ALL}
JOIN = Operation("join", "POST /join", "Show a token, get a cookie.", fields=(Field("token"), Field("name", most=60)))


def form(raw: bytes) -> dict[str, Any]:
    """The fields of a form that a page sent."""
    try:
        return dict(parse_qsl(raw.decode("ascii"), max_num_fields=20))
    except (UnicodeError, ValueError):
        raise Refusal(400, "The form cannot be read.") from None


def parsed(raw: bytes) -> dict[str, Any]:
    """A body as a JSON object; an empty one has no fields."""
    if not raw.strip(b" \t\n\r"):  # what JSON calls blank, and nothing else
        return {}
    try:
        data = json.loads(raw.decode("utf-8"), parse_constant=_refused)
        _kept(data)
    except (ValueError, RecursionError) as error:
        raise Refusal(400, f"The body must be JSON; {str(error)[:200] or 'it cannot be read'}.") from None
    if not isinstance(data, dict):
        raise Refusal(400, "The body must be a JSON object.")
    return data


def turn_number(word: str) -> int:
    """A turn's number in an address."""
    if not (word.isascii() and word.isdecimal() and len(word) <= 9 and int(word) > 0):
        raise Refusal(404, "There is no such turn.", "A turn's number is a whole number from 1.")
    return int(word)


def clean(text: str, name: str, *, lines: bool = True) -> str:
    """The text, if every character of it can be kept and shown; a name has one line."""
    if any((one < " " and not (lines and one in "\n\r\t")) or "\ud800" <= one <= "\udfff" for one in text):
        raise Refusal(422, f"`{name}` must not hold control characters.")
    return text


def _kept(value: Any) -> None:
    """Nothing that the log could not keep: endless numbers, broken characters."""
    if isinstance(value, dict):
        _all_kept((*value, *value.values()))
    elif isinstance(value, list):
        _all_kept(value)
    elif isinstance(value, str):
        clean(value, "text")
    elif isinstance(value, int | float) and not abs(value) <= LARGEST:
        raise Refusal(422, f"A number must be within ±{LARGEST:g}.")


def _all_kept(values: Iterable[Any]) -> None:
    for value in values:
        _kept(value)


def _refused(word: str) -> Any:
    raise ValueError(f"{word} is not a number")


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True)[:60]
