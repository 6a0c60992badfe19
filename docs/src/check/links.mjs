/** Dead links of every page, also to anchors, and pages that no other page leads to. `links`: address to `{ targets, anchors }`. */
export function checkLinks(links) {
  const reached = new Set(["/"]);
  const problems = new Map();
  for (const [address, { targets }] of links) {
    const dead = targets.flatMap((target) => {
      const url = new URL(target, `http://site${address}`);
      if (url.host !== "site") return [];
      if (url.pathname !== address) reached.add(url.pathname);
      return deadEnd(url, links);
    });
    problems.set(address, [...new Set(dead)]);
  }
  for (const address of links.keys()) if (!reached.has(address)) problems.get(address).push("no page leads here");
  return problems;
}

function deadEnd({ pathname, hash }, links) {
  if (pathname === "/llms.txt" || pathname === "/llms-full.txt" || /^\/[\w-]+\.svg$/.test(pathname)) return [];
  const page = links.get(pathname);
  if (page === undefined) return [`${pathname} is no page`];
  const anchor = decodeURIComponent(hash.slice(1));
  return anchor === "" || page.anchors.includes(anchor) ? [] : [`${pathname} has no anchor ${hash}`];
}
