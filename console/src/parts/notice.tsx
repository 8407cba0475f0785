import { Anchor, Group, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';

/** Says that something was made, and leads to it. `open` goes there without loading the console again. */
export function noticeWithLink(message: string, href: string, open: () => void): void {
  const id = notifications.show({
    color: 'teal',
    autoClose: 10_000,
    message: (
      <Group justify="space-between" wrap="nowrap">
        <Text size="sm">{message}</Text>
        <Anchor
          size="sm"
          href={href}
          onClick={(event) => {
            event.preventDefault();
            notifications.hide(id);
            open();
          }}
        >
          Show it
        </Anchor>
      </Group>
    ),
  });
}
