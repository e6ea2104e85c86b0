// The present, for "4 min ago". Moves once per second for all who look.

let now = $state(Date.now());
setInterval(() => {
  if (!document.hidden) now = Date.now();
}, 1000);

export const clock = {
  get now(): number {
    return now;
  },
};
