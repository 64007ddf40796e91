"""The codes of the fetch log in words, for people (pure)."""

WHY_VISITED = {
    "start": "a start page: it links to new pages",
    "new": "a link that was never seen before",
    "index": "an index page that may show something new",
    "sitemap": "a sitemap: it lists pages and their changes",
    "feed": "a feed: it lists new and changed pages",
    "told": "a trusted source reported a change",
    "rate": "a change was likely by its rate",
    "due": "it was due by its schedule",
    "gone?": "it was missing at the last visit",
    "moved?": "it was a page once and a redirect at the last visit",
    "floor": "every page is visited at least so often",
    "sample": "too little was known of its class",
    "lot": "drawn at random among the pages left out, to measure the recall",
    "pair": "fetched twice at once, to learn what is noise",
    "embed": "a page embeds it, and it was new",
    "sign": "a page that needs it changed, or something beside it did",
    "": "a full run visits everything",
}
"""Why a page was visited."""

FOUND = {
    "new": "new",
    "major": "major changes",
    "minor": "minor changes",
    "template": "only the template differs",
    "noise": "only noise differs (counters, dates, advertisements)",
    "markup": "only markup differs",
    "none": "unchanged",
    "missing": "newly missing",
    "gone": "gone for good",
    "soft-404": "replaced by an error page",
    "moved": "moved",
    "still missing": "still missing",
    "never there": "dead links",
    "silent": "no answer or refused",
    "pair": "fetched twice, to distinguish noise from changes",
}
"""What a visit found."""

STORED_AS = {
    "novel": "in full",
    "duplicate": "a reference to the same content",
    "not-modified": "a reference: not modified",
    "noted": "a note",
    "delta": "a difference",
    "": "nothing",
}
"""What the archive got of a visit."""

DECIDED_BY = {
    "payload": "the whole reply",
    "markup": "markup",
    "masked": "clocks or counters",
    "token": "tokens of letters and digits",
    "volatile": "places that differ at every look",
    "advert": "advertisements",
    "churn": "places that differ at every look",
    "variant": "blocks that come and go by themselves",
    "typography": "quotation marks or dashes",
    "link-token": "tokens in links",
    "event": "what changed in the same way on other pages of the run",
    "frame": "a part of the frame of the site",
    "template": "what most pages of the site show",
    "returned": "a text that the page had before",
    "navigation": "navigation",
    "text": "text",
    "title": "title",
    "heading": "headings",
    "date": "a date",
    "link": "links",
    "image": "images",
    "file": "attached files",
    "order": "the order of texts",
    "layout": "lines and paragraphs of the same text",
    "score": "many small differences",
    "unread": "what lies behind the part that was read",
    "blocked": "a page that refuses visitors",
    "failed": "a page that came without its text",
    "soft-404": "an error page with status 200",
    "redirect": "a redirect",
    "pair": "a second fetch, to distinguish noise from changes",
}
"""What in a reply decided how it counts; other codes are names of signatures."""
