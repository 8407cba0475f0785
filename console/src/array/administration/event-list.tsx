import { Group, Stack, Text } from '@mantine/core';
import { array } from '../../api/array.ts';
import { useRead } from '../../api/queries.ts';
import { Empty } from '../../parts/messages.tsx';
import { Reading } from '../../parts/reading.tsx';
import { Severity } from '../../parts/severity.tsx';
import { Time } from '../../parts/small.tsx';

/** The newest events, in short. */
export function EventList({ limit }: { readonly limit: number }) {
  const reading = useRead(array.messages.list, { limit });
  return (
    <Reading of={reading}>
      {({ messages }) =>
        messages.length === 0 ? (
          <Empty title="Nothing has happened yet." />
        ) : (
          <Stack gap={6}>
            {messages.map(({ msg_id, msg_title, msg_severity, msg_time }) => (
              <Group key={msg_id} gap="xs" wrap="nowrap" align="flex-start">
                <Severity of={Number(msg_severity)} />
                <Text size="sm" flex={1}>
                  {msg_title}
                </Text>
                <Text size="xs" c="dimmed">
                  <Time at={msg_time} isRelative />
                </Text>
              </Group>
            ))}
          </Stack>
        )
      }
    </Reading>
  );
}
