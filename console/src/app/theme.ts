import { createTheme, Menu, Notification } from '@mantine/core';

/** Contrast of text is held by the test with axe, light and dark. */
export const theme = createTheme({
  primaryColor: 'teal',
  primaryShade: { light: 9, dark: 9 },
  defaultRadius: 'md',
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, monospace',
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    // What Mantine puts there to have the focus is no item of a menu; without it the first item has it.
    Menu: Menu.extend({ defaultProps: { withInitialFocusPlaceholder: false } }),
    Notification: Notification.extend({ defaultProps: { closeButtonProps: { 'aria-label': 'Dismiss' } } }),
  },
});
