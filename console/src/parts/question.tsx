import { Button, Group, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Dialog } from './dialog.tsx';

interface QuestionProps {
  readonly title: string;
  /** What comes of it, in plain words. */
  readonly children: ReactNode;
  /** What the button says. */
  readonly act: string;
  readonly onAct: () => void;
  readonly close: () => void;
}

/** Asks before something is done that others notice. */
export function Question({ title, children, act, onAct, close }: QuestionProps) {
  return (
    <Dialog opened onClose={close} title={title}>
      <Stack>
        <Text size="sm" component="div">
          {children}
        </Text>
        <Group justify="flex-end">
          <Button variant="default" onClick={close} data-autofocus>
            Cancel
          </Button>
          <Button
            color="red"
            onClick={() => {
              close();
              onAct();
            }}
          >
            {act}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
