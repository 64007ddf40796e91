"""The routes of profiles and clips."""

from nacre.console.library import handlers, pages
from nacre.console.route_row import API, RouteRow
from nacre.ops import library
from nacre.ops.roles import Role

_V, _O = Role.VIEWER, Role.OPERATOR

LIBRARY_ROUTES: tuple[RouteRow, ...] = (
    RouteRow("GET", "/profiles", _V, pages.profiles, "All profiles."),
    RouteRow("POST", "/profiles", _O, pages.save_profile, "Save a job as a profile."),
    RouteRow("GET", "/profiles/{profile}", _V, pages.profile, "A profile."),
    RouteRow("POST", "/profiles/{profile}/remove", _O, pages.remove_profile,
             "Remove a profile of one's own."),
    RouteRow("GET", "/clips", _V, pages.clips, "All clips."),
    RouteRow("POST", "/clips", _O, pages.save_clip, "Save a clip."),
    RouteRow("GET", "/clips/{clip}", _V, pages.clip, "A clip."),
    RouteRow("POST", "/clips/{clip}/remove", _O, pages.remove_clip,
             "Remove a clip of one's own."),
    RouteRow("POST", "/clips/{clip}/use", _O, pages.use_clip,
             "Show what a clip changes in a job.", changes=False),
    RouteRow("GET", f"{API}/profiles", _V, handlers.list_profiles, "All profiles.",
             answer=handlers.ProfileItems),
    RouteRow("POST", f"{API}/profiles", _O, handlers.save_profile,
             "Save the settings of a job as a profile, without its seeds and secrets.",
             body=library.ProfileWish, answer=library.ProfileDetails, status=201,
             makes=("profile", "name")),
    RouteRow("GET", f"{API}/profiles/{{profile}}", _V, handlers.get_profile, "A profile.",
             answer=library.ProfileDetails,
             version_of=handlers.profile_version),
    RouteRow("DELETE", f"{API}/profiles/{{profile}}", _O, handlers.remove_profile,
             "Remove a profile of one's own.", status=204,
             version_of=handlers.profile_version),
    RouteRow("GET", f"{API}/clips", _V, handlers.list_clips, "All clips.",
             answer=handlers.ClipItems),
    RouteRow("POST", f"{API}/clips", _O, handlers.save_clip, "Save YAML as a clip.",
             body=library.ClipWish, answer=library.ClipItem, status=201, makes=("clip", "name")),
    RouteRow("GET", f"{API}/clips/{{clip}}", _V, handlers.get_clip, "A clip.",
             answer=library.ClipItem,
             version_of=handlers.clip_version),
    RouteRow("DELETE", f"{API}/clips/{{clip}}", _O, handlers.remove_clip,
             "Remove a clip of one's own.", status=204,
             version_of=handlers.clip_version),
    RouteRow("POST", f"{API}/clips/{{clip}}/insert", _O, handlers.insert_clip,
             "The text of a job with a clip in it; it is not saved.", body=handlers.ClipUse,
             answer=library.ClipResult, changes=False),
)  # fmt: skip
"""Its rows."""
