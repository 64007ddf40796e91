"""The routes of webhooks."""

from nacre.console.answering import with_page
from nacre.console.route_row import API, RouteRow, RouteView
from nacre.console.webhooks import handlers
from nacre.ops.roles import Role

_O = Role.OPERATOR

WEBHOOK_ROUTES: tuple[RouteRow, ...] = (
    *with_page(RouteRow("GET", f"{API}/webhooks", _O, handlers.list_hooks,
                        "Who is told what happens.", answer=handlers.HookList),
               "/webhooks", RouteView("webhooks.html", handlers.hook_facts),
               handlers.HookPageQuery),
    RouteRow("POST", "/webhooks", _O, handlers.hook_form, "Change the webhooks; a form."),
    RouteRow("POST", f"{API}/webhooks", _O, handlers.add_hook, "Keep a webhook.",
             body=handlers.NewHook, answer=handlers.HookItem, status=201,
             makes=("webhook", "id")),
    RouteRow("GET", f"{API}/webhooks/{{webhook}}", _O, handlers.get_hook, "A webhook.",
             answer=handlers.HookItem, version_of=handlers.hook_version),
    RouteRow("PUT", f"{API}/webhooks/{{webhook}}", _O, handlers.change_hook,
             "Set a webhook anew.", body=handlers.NewHook, answer=handlers.HookItem,
             version_of=handlers.hook_version),
    RouteRow("DELETE", f"{API}/webhooks/{{webhook}}", _O, handlers.remove_hook,
             "Forget a webhook.", status=204, version_of=handlers.hook_version),
    RouteRow("POST", f"{API}/webhooks/{{webhook}}/test", _O, handlers.try_hook,
             "Send a webhook a message.", answer=handlers.HookItem, status=202),
    RouteRow("GET", f"{API}/webhooks/{{webhook}}/deliveries", _O, handlers.list_deliveries,
             "The last messages of a webhook.", answer=handlers.DeliveryList),
)  # fmt: skip
"""Its rows."""
