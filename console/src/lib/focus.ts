/** Gives an element the focus when it appears. The attribute is for a dialog that opens around it later. */
export function takeFocus(element: HTMLElement): void {
  element.autofocus = true;
  element.focus();
}
