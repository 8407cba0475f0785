import { Alert, Button, Code, CopyButton, Group, Stack, Text } from '@mantine/core';
import type { Endpoint } from '@granary/contract';
import { Facts } from '../parts/small.tsx';
import { replyFacts, type ReplyFact } from './reply-facts.ts';

/** What came back, field by field. A secret that no other call shows has a button to copy it. */
export function ReplyView({ endpoint, value }: { readonly endpoint: Endpoint; readonly value: unknown }) {
  const facts = replyFacts(endpoint, value);
  const secrets = facts.filter(({ isOnce }) => isOnce);
  if (secrets.length === 0 && isLong(facts)) {
    return (
      <Code block mah={320} className="command" tabIndex={0}>
        {JSON.stringify(value, null, 2)}
      </Code>
    );
  }
  const others = facts.filter(({ isOnce }) => !isOnce);
  return (
    <Stack gap="sm">
      {secrets.length > 0 && (
        <Alert color="yellow" variant="light" role="status">
          Copy it now: it is shown only this once.
        </Alert>
      )}
      {others.length > 0 && <Facts of={others.map(({ label, text }) => [label, text])} />}
      {secrets.map((secret) => (
        <Shown key={secret.label} of={secret} />
      ))}
    </Stack>
  );
}

function Shown({ of: { label, text } }: { readonly of: ReplyFact }) {
  return (
    <div role="group" aria-label={label}>
      <Text size="sm" fw={500}>
        {label}
      </Text>
      <Group align="flex-start" wrap="nowrap" gap="xs">
        <Code block className="command" flex={1} tabIndex={0}>
          {text}
        </Code>
        <CopyButton value={text}>
          {({ copied, copy }) => (
            <Button variant="default" size="xs" onClick={copy} aria-label={`Copy: ${label}`}>
              {copied ? 'Copied' : 'Copy'}
            </Button>
          )}
        </CopyButton>
      </Group>
    </div>
  );
}

const FACTS_MAX = 12;

function isLong(facts: readonly ReplyFact[]): boolean {
  return facts.length === 0 || facts.length > FACTS_MAX;
}
