/* Lets the operator's page be loaded while the server is away. It keeps that page as it was last served, its style and its
   scripts, and nothing else: no answer of the API, no other role's page. What is asked goes to the server first; what is
   kept is used only when no answer comes. A server that answers "not you" ends what is kept. */
"use strict";
const KEPT = "surefoot-run-3", PAGE = "/run", PATIENCE = 5000;
const SCRIPTS = ["/static/base.js", "/static/clips.js", "/static/console.js", "/static/watching.js"];
const PARTS = ["/static/console.css", "/static/mark.svg", ...SCRIPTS];

self.addEventListener("install", (event) => {
  const fresh = [PAGE, ...PARTS].map((path) => new Request(path, { cache: "reload", redirect: "error" }));
  event.waitUntil(caches.open(KEPT).then((cache) => cache.addAll(fresh)).then(() => self.skipWaiting()));
});

self.addEventListener("activate", (event) => {
  const old = caches.keys().then((names) => Promise.all(names.filter((name) => name !== KEPT).map((name) => caches.delete(name))));
  event.waitUntil(old.then(() => self.clients.claim()));
});

self.addEventListener("fetch", (event) => {
  const { request } = event, { pathname, origin } = new URL(request.url);
  if (request.method !== "GET" || origin !== self.location.origin) return;
  if (pathname === PAGE && request.mode === "navigate") event.respondWith(answered(request, PAGE));
  else if (PARTS.includes(pathname)) event.respondWith(answered(request, pathname));
});

async function answered(request, name) {
  const cache = await caches.open(KEPT), asked = fetch(request);
  let answer = null;
  try {
    answer = await Promise.race([asked, new Promise((_, late) => setTimeout(late, PATIENCE))]);
  } catch { /* away */ }
  if (!answer || answer.status >= 500) return (await cache.match(name)) ?? asked;
  if (answer.status === 200 && !answer.redirected) await cache.put(name, answer.clone());
  else if ([401, 403].includes(answer.status)) await cache.delete(name);
  return answer;
}
