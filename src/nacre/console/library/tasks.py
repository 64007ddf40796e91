"""Profiles and clips in reader processes."""

from typing import Final

from nacre.console.readers.task import reader_task
from nacre.ops import library

PROFILES: Final = reader_task("profiles")(library.all_profiles)
PROFILE_TEXT: Final = reader_task("profile-text")(library.profile_text)
SAVE_PROFILE: Final = reader_task("save-profile")(library.save_profile)
REMOVE_PROFILE: Final = reader_task("remove-profile")(library.remove_profile)
CLIPS: Final = reader_task("clips")(library.all_clips)
CLIP_TEXT: Final = reader_task("clip-text")(library.clip_text)
PUT_CLIP: Final = reader_task("put-clip")(library.put_clip)
DROP_CLIP: Final = reader_task("drop-clip")(library.drop_clip)
WITH_CLIP: Final = reader_task("with-clip")(library.with_clip)
