import { Alert, Button, Center, Group, List, Loader, Stack, Text, Title } from '@mantine/core';
import { ApiError, ConnectionError } from '@granary/client/errors';
import { useRef, type ReactNode } from 'react';
import { useTitle } from '../app/title.ts';

export function Loading() {
  return (
    <Center p="xl">
      <Loader role="img" aria-label="Loading" />
    </Center>
  );
}

/** An error in words, with the fields it names and, where it may help, a way to try again. */
export function Failed({ error, retry }: { readonly error: unknown; readonly retry?: () => void }) {
  const { title, problems: all } = wordsOf(error);
  // The title mostly has them already: nothing is said twice.
  const problems = all.filter(({ message }) => !title.includes(message));
  return (
    <Alert color="red" variant="light" role="alert" title={title}>
      {problems.length > 0 && (
        <List size="sm">
          {problems.map(({ field, message }) => (
            <List.Item key={field}>
              {field}: {message}
            </List.Item>
          ))}
        </List>
      )}
      {retry && (
        <Button size="xs" variant="default" mt="sm" onClick={retry}>
          Try again
        </Button>
      )}
    </Alert>
  );
}

/** As the browsers say that a part of the console cannot be loaded. */
const LOADING = /dynamically imported module|importing a module script failed/i;
const UPDATED =
  'This page could not be loaded: the console was updated, or the service does not answer. Load it again.';

export function wordsOf(error: unknown): { title: string; problems: ApiError['problems'] } {
  if (error instanceof ApiError) return { title: error.message, problems: error.problems };
  if (error instanceof ConnectionError) return { title: connectionWords(error), problems: [] };
  const message = error instanceof Error ? error.message : String(error);
  return { title: LOADING.test(message) ? UPDATED : message, problems: [] };
}

/** Of no answer at all. What was sent may have been done: the service was not heard of, not the other way round. */
function connectionWords({ message }: ConnectionError): string {
  if (!navigator.onLine) return 'This computer has no network. Connect it, then try again.';
  if (message.endsWith('it took too long'))
    return 'The service took too long to answer. It may have done what was asked: look before you try again.';
  return 'The service does not answer. See that it is running and that this computer reaches it, then try again.';
}

/** Says what the next step is where there is nothing to show yet. */
export function Empty(props: { readonly title: string; readonly children?: ReactNode; readonly action?: ReactNode }) {
  return (
    <Stack align="center" p="xl" gap="xs">
      <Text fw={600}>{props.title}</Text>
      {props.children !== undefined && (
        <Text c="dimmed" ta="center" maw={480}>
          {props.children}
        </Text>
      )}
      {props.action}
    </Stack>
  );
}

export function Missing({ what, action }: { readonly what: string; readonly action?: ReactNode }) {
  return (
    <Empty title={`There is no such ${what}.`} action={action}>
      It may have been removed, or the address is wrong.
    </Empty>
  );
}

/** The head of each page: its name, what it is for, and what can be done. */
export function PageHead(props: {
  readonly title: ReactNode;
  readonly about?: ReactNode;
  readonly children?: ReactNode;
}) {
  const heading = useRef<HTMLHeadingElement>(null);
  useTitle(heading);
  return (
    <Group justify="space-between" align="flex-start" mb="md">
      <div className="page-head">
        <Title order={1} size="h2" ref={heading}>
          {props.title}
        </Title>
        {props.about !== undefined && (
          <Text c="dimmed" size="sm" component="div">
            {props.about}
          </Text>
        )}
      </div>
      <Group gap="xs">{props.children}</Group>
    </Group>
  );
}
