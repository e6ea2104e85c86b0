// The clipboard. Plain HTTP has no navigator.clipboard, and the console must work there.

export async function copyText(text: string): Promise<void> {
  if (window.isSecureContext) {
    await navigator.clipboard.writeText(text);
    return;
  }
  const area = document.createElement('textarea');
  area.value = text;
  area.className = 'visually-hidden';
  // Inside an open dialog everything else is inert and cannot be selected.
  const home = document.querySelector('dialog[open]') ?? document.body;
  home.append(area);
  area.select();
  document.execCommand('copy');
  area.remove();
}
