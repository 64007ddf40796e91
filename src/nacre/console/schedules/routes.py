"""The routes of schedules."""

from nacre.console.route_row import API, RouteRow
from nacre.console.schedules import calendar, handlers
from nacre.fleet.schedule_book import ScheduleWish
from nacre.ops.roles import Role

_O = Role.OPERATOR

SCHEDULE_ROUTES: tuple[RouteRow, ...] = (
    RouteRow("GET", "/calendar", Role.VIEWER, calendar.page, "When runs begin.",
             query=calendar.CalendarQuery),
    RouteRow("POST", "/calendar", _O, calendar.answer, "Change the calendar; a form."),
    RouteRow("GET", f"{API}/schedules", Role.VIEWER, handlers.list_schedules, "When runs begin.",
             answer=handlers.ScheduleList),
    RouteRow("POST", f"{API}/schedules", _O, handlers.add_schedule, "Keep a schedule.",
             body=ScheduleWish, answer=handlers.ScheduleItem, status=201,
             makes=("schedule", "id")),
    RouteRow("GET", f"{API}/schedules/{{schedule}}", Role.VIEWER, handlers.get_schedule,
             "A schedule.", answer=handlers.ScheduleItem,
             version_of=handlers.schedule_version),
    RouteRow("PUT", f"{API}/schedules/{{schedule}}", _O, handlers.change_schedule,
             "Set a schedule anew.", body=ScheduleWish, answer=handlers.ScheduleItem,
             version_of=handlers.schedule_version),
    RouteRow("DELETE", f"{API}/schedules/{{schedule}}", _O, handlers.remove_schedule,
             "Forget a schedule.", status=204,
             version_of=handlers.schedule_version),
)  # fmt: skip
"""Its rows."""
