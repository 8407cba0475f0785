import { Alert, Button, Code, Group, Stack, Text } from '@mantine/core';
import { useEffect, useRef } from 'react';
import { textOf, type Stored } from '../s3/stored.ts';

interface ChangedProps {
  readonly now: Stored;
  readonly load: () => void;
  readonly overwrite: () => void;
  /** To what was typed, where something was. */
  readonly goBack?: () => void;
}

/** In the place of an editor: somebody else has saved the setting since it was read. */
export function Changed({ now, load, overwrite, goBack }: ChangedProps) {
  const alert = useRef<HTMLDivElement>(null);
  // The form that had the focus is gone.
  useEffect(() => alert.current?.focus(), []);
  const text = textOf(now).trim();
  return (
    <Alert color="yellow" variant="light" role="alert" title="It was changed meanwhile" tabIndex={-1} ref={alert}>
      <Stack gap="xs">
        <Text size="sm">
          {text === ''
            ? 'Another tab or another person took this setting away after you opened it. Nothing of yours is saved yet.'
            : 'Another tab or another person saved this setting after you opened it. Nothing of yours is saved yet. It is now:'}
        </Text>
        {text !== '' && (
          <Code block mah={320} className="command" tabIndex={0}>
            {text}
          </Code>
        )}
        <Group>
          <Button variant="default" onClick={load}>
            {goBack ? 'Load it and drop my change' : 'Keep it'}
          </Button>
          <Button variant="default" color="red" onClick={overwrite}>
            Overwrite it with my change
          </Button>
          {goBack && (
            <Button variant="subtle" onClick={goBack}>
              Back to my change
            </Button>
          )}
        </Group>
      </Stack>
    </Alert>
  );
}
