import { Alert, Button, Group, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import { lastActAt, whenActing } from '../api/presence.ts';
import { localTime } from '../parts/format.ts';
import { useSessionTools } from './session.tsx';

const LOOK_EVERY_MS = 10_000;
/** Before the end: time enough to read it and to press a key. */
const WARN_MS_MAX = 120_000;

/** Says before a session ends that it will, because nobody is there. Any key or click keeps it. */
export function IdleWarning() {
  const { session, keep } = useSessionTools();
  const [endsAt, setEndsAt] = useState<number>();
  const idleMs = session.idle_minutes * 60_000;
  useEffect(() => {
    const look = () => {
      const end = lastActAt() + idleMs;
      setEndsAt(end - Date.now() < Math.min(WARN_MS_MAX, idleMs / 3) ? end : undefined);
    };
    const timer = window.setInterval(look, LOOK_EVERY_MS);
    const stop = whenActing(look);
    return () => {
      window.clearInterval(timer);
      stop();
    };
  }, [idleMs]);
  if (endsAt === undefined) return null;
  return (
    <Alert color="orange" variant="light" mb="md" role="alert" title="You will be signed out soon">
      <Group justify="space-between">
        <Text size="sm">
          Nobody has used the console for a while. At {localTime(new Date(endsAt))} the session ends; what you typed
          stays in this page.
        </Text>
        <Button size="xs" variant="default" onClick={keep}>
          Stay signed in
        </Button>
      </Group>
    </Alert>
  );
}
