"""Mail room: bytes of a mailbox, a mail, a patch file or an archive page to messages."""

from patchlint.mail.reader import read_mail
from patchlint.mail.text import readable

__all__ = ["read_mail", "readable"]
