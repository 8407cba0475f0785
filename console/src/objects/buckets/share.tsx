import { Button, Group, Select, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { objects } from '../../api/objects.ts';
import { useAct } from '../../api/queries.ts';
import { useMay } from '../../app/identity.tsx';
import { IconLink } from '../../parts/icons.tsx';
import { Failed } from '../../parts/messages.tsx';
import { CommandText, Time } from '../../parts/small.tsx';

interface ShareLinkProps {
  readonly bucket: string;
  readonly objectKey: string;
}

const HOUR = 3600;
const DURATIONS = [
  { value: String(HOUR), label: 'for an hour' },
  { value: String(24 * HOUR), label: 'for a day' },
  { value: String(7 * 24 * HOUR), label: 'for a week' },
];

/** A link that opens one object to anyone who has it, until it ends. */
export function ShareLink({ bucket, objectKey: key }: ShareLinkProps) {
  const op = objects.users.presign;
  const [seconds, setSeconds] = useState(DURATIONS[0]?.value ?? '');
  const sharing = useAct(op);
  const may = useMay();
  if (!may(op)) return null;
  const link = sharing.data?.value;
  return (
    <Stack gap="xs" component="section" aria-label="Share">
      <Group align="flex-end" gap="xs">
        <Select
          label="Share by a link"
          data={DURATIONS}
          value={seconds}
          onChange={(value) => setSeconds(value ?? '')}
          allowDeselect={false}
          w={160}
        />
        <Button
          variant="default"
          leftSection={<IconLink size={16} />}
          loading={sharing.isPending}
          onClick={() => sharing.mutate({ bucket, key, method: 'GET', expires: Number(seconds) })}
        >
          Make a link
        </Button>
      </Group>
      {sharing.error && <Failed error={sharing.error} />}
      {link && (
        <>
          <CommandText text={link.url} label="Copy the link" />
          <Text size="xs" c="dimmed">
            Anyone who has it can fetch the object without signing in, until <Time at={link.expires_at} />. It ends early
            when your S3 secret key is replaced.
          </Text>
        </>
      )}
    </Stack>
  );
}
