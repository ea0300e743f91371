"""The page's script: walks paths and findings by keyboard. Without it the page is whole, only less handy."""

SCRIPT = """
'use strict';
(() => {
  const findings = [...document.querySelectorAll('article.finding')];
  const select = (walk, at, focus) => {
    const links = [...walk.querySelectorAll('.steps a')];
    if (!links.length) return;
    at = Math.max(0, Math.min(at, links.length - 1));
    walk.dataset.at = at;
    for (const link of links) link.removeAttribute('aria-current');
    links[at].setAttribute('aria-current', 'step');
    for (const part of walk.querySelectorAll('.now')) part.classList.remove('now');
    for (const node of walk.querySelectorAll('.node'))
      if (node.dataset.step === String(at)) node.classList.add('now');
    for (const line of walk.querySelectorAll('.line.at'))
      if (line.dataset.steps.split(' ').includes(String(at))) {
        line.classList.add('now');
        if (focus) line.scrollIntoView({block: 'nearest'});
      }
    if (focus) links[at].focus({preventScroll: false});
  };
  for (const walk of document.querySelectorAll('.walk')) {
    walk.addEventListener('click', event => {
      const part = event.target.closest('[data-step], [data-steps]');
      if (!part) return;
      event.preventDefault();
      select(walk, Number((part.dataset.step || part.dataset.steps).split(' ')[0]), true);
    });
    walk.addEventListener('keydown', event => {
      const move = {ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1}[event.key];
      if (!move || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      select(walk, Number(walk.dataset.at) + move, true);
    });
    select(walk, 0, false);
  }
  let current = -1;
  const go = at => {
    if (!findings.length) return;
    current = (at + findings.length) % findings.length;
    const finding = findings[current];
    const fold = finding.closest('details');
    if (fold) fold.open = true;
    finding.scrollIntoView({block: 'start'});
    finding.focus({preventScroll: true});
  };
  document.addEventListener('focusin', event => {
    const inside = findings.indexOf(event.target.closest('article.finding'));
    if (inside >= 0) current = inside;
  });
  document.addEventListener('keydown', event => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest('input, textarea')) return;
    if (event.key === 'j') go(current + 1);
    if (event.key === 'k') go(current < 0 ? -1 : current - 1);
  });
})();
"""
