import { Stack, Text } from '@mantine/core';
import { commandLine, curlLine } from '@granary/contract/command-line';
import type { AnyInput, Op } from '../api/operations.ts';
import { usePlace } from '../api/places.tsx';
import { CommandText } from '../parts/small.tsx';
import { useParam } from '../app/base.ts';

const PREFIX: Readonly<Record<string, string>> = { array: 'array', objects: 'objects' };

/** The `granary` line and the `curl` line of a call, to copy into a script. */
export function CommandView({ op, input }: { readonly op: Op; readonly input: AnyInput }) {
  return <Lines op={op} inputs={[input]} />;
}

/** Of one call for each record, a line each. */
export function BulkCommands({ op, inputs }: { readonly op: Op; readonly inputs: readonly AnyInput[] }) {
  return <Lines op={op} inputs={inputs} />;
}

function Lines({ op, inputs }: { readonly op: Op; readonly inputs: readonly AnyInput[] }) {
  const place = usePlace(op.api.name);
  const arrayId = useParam('arrayId');
  const prefix = PREFIX[op.api.name];
  const array = prefix !== undefined && arrayId !== '' ? arrayId : undefined;
  const header = op.api.name === 'portal' || place.base !== '' ? 'X-Token: $TOKEN' : 'X-Access-Key: $KEY';
  const url = `${location.origin}${place.base}`;
  return (
    <Stack gap="xs">
      <Text size="xs" c="dimmed">
        The same from a shell
      </Text>
      <CommandText
        text={inputs.map((input) => commandLine(op, input, { prefix, array })).join('\n')}
        label="Copy the granary line"
      />
      <CommandText
        text={inputs.map((input) => curlLine(op, input, { url, header })).join('\n')}
        label="Copy the curl line"
      />
    </Stack>
  );
}
