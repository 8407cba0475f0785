import { Group, Stack, Text } from '@mantine/core';
import { objects } from '../../api/objects.ts';
import { useRead } from '../../api/queries.ts';
import { Empty } from '../../parts/messages.tsx';
import { Reading } from '../../parts/reading.tsx';
import { Severity } from '../../parts/severity.tsx';
import { Time } from '../../parts/small.tsx';

/** The newest events, in short. */
export function EventList({ limit }: { readonly limit: number }) {
  const reading = useRead(objects.messages.list, { limit });
  return (
    <Reading of={reading}>
      {({ messages }) =>
        messages.length === 0 ? (
          <Empty title="Nothing has happened yet." />
        ) : (
          <Stack gap={6}>
            {messages.map(({ msg_id: id, msg_title: title, msg_severity: severity, msg_time: at }) => (
              <Group key={id} gap="xs" wrap="nowrap" align="flex-start">
                <Severity of={Number(severity)} />
                <Text size="sm" flex={1}>
                  {title}
                </Text>
                <Text size="xs" c="dimmed">
                  <Time at={at} isRelative />
                </Text>
              </Group>
            ))}
          </Stack>
        )
      }
    </Reading>
  );
}
