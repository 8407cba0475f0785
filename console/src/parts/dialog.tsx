import { Modal, type ModalProps } from '@mantine/core';
import { useEffect, useLayoutEffect, useRef, type ReactNode } from 'react';

const FIELDS = 'input:not([disabled], [type="hidden"]), textarea:not([disabled])';

/** A form or a question over the page. The first field has the focus; closing gives it back to where it came from. */
export function Dialog({ children, ...props }: ModalProps) {
  const opener = useRef<Element>(null);
  const wasOpen = useRef(false);
  // Before anything of the dialog is there, and before the menu that it may come from is gone.
  if (props.opened && !wasOpen.current) opener.current = openerNow();
  wasOpen.current = props.opened;
  return (
    <Modal closeButtonProps={{ 'aria-label': 'Close' }} returnFocus={false} {...props}>
      <Inside opener={opener.current}>{children}</Inside>
    </Modal>
  );
}

/** There for as long as the dialog is, however it is opened and closed. */
function Inside({ opener, children }: { readonly opener: Element | null; readonly children: ReactNode }) {
  const content = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const { current } = content;
    const first = current?.querySelector('[data-autofocus]') ?? current?.querySelector(FIELDS);
    // A list of choices would open over the form.
    if (first?.hasAttribute('aria-haspopup') === false) first.setAttribute('data-autofocus', '');
  }, []);
  useEffect(() => () => giveBack(opener), [opener]);
  return <div ref={content}>{children}</div>;
}

/** An item of a menu goes with its menu: the button of the menu stays. */
function openerNow(): Element | null {
  const { activeElement } = document;
  const button = activeElement?.closest('[role="menu"]')?.getAttribute('aria-labelledby');
  return button ? document.getElementById(button) : activeElement;
}

/** Once the dialog is gone. What was acted on may be gone, too: then the heading of the page has the focus. */
function giveBack(opener: Element | null): void {
  setTimeout(() => {
    if (document.activeElement && document.activeElement !== document.body) return;
    if (opener instanceof HTMLElement && opener.isConnected && opener !== document.body) opener.focus();
    else focusContent();
  });
}

export function focusContent(): void {
  const heading = document.querySelector<HTMLElement>('main h1');
  heading?.setAttribute('tabindex', '-1');
  heading?.focus();
}
