"""Small clips: a picture of one point, and the first bytes of each kind."""

from __future__ import annotations

import base64

GIF = base64.b64decode("R0lGODlhAQABAIAAAP///wAAACwAAAAAAQABAAACAkQBADs=")
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
HEADS = {
    "mp4": b"\0\0\0\x18ftypisom\0\0\0\0isomavc1",
    "mov": b"\0\0\0\x14ftypqt  \0\0\0\0qt  ",
    "webm": b"\x1aE\xdf\xa3\x9fB\x86\x81\x01B\xf7\x81\x01B\xf2\x81\x04B\xf3\x81\x08B\x82\x84webm",
    "gif": GIF,
    "png": PNG,
    "jpg": b"\xff\xd8\xff\xe0\0\x10JFIF",
}
