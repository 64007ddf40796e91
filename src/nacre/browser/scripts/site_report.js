// What a script of a site has reported, whether or not it came to its end.
() => ({ links: state.links.splice(0), log: state.log.splice(0) })
