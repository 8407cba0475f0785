import { Stack, Text } from '@mantine/core';
import { commandLine, curlLine } from '@granary/contract/command-line';
import type { AnyInput, Op } from '../api/operations.ts';
import { usePlace } from '../api/places.tsx';
import { CommandText } from '../parts/small.tsx';
import { useParam } from '../app/base.ts';

const PREFIX: Readonly<Record<string, string>> = { array: 'array', objects: 'objects' };

/** The `granary` line and the `curl` line of a call, to copy into a script. */
export function CommandView({ op, input }: { readonly op: Op; readonly input: AnyInput }) {
  const place = usePlace(op.api.name);
  const arrayId = useParam('arrayId');
  const prefix = PREFIX[op.api.name];
  const array = prefix !== undefined && arrayId !== '' ? arrayId : undefined;
  const header = op.api.name === 'portal' || place.base !== '' ? 'X-Token: $TOKEN' : 'X-Access-Key: $KEY';
  return (
    <Stack gap="xs">
      <Text size="xs" c="dimmed">
        The same from a shell
      </Text>
      <CommandText text={commandLine(op, input, { prefix, array })} label="Copy the granary line" />
      <CommandText
        text={curlLine(op, input, { url: `${location.origin}${place.base}`, header })}
        label="Copy the curl line"
      />
    </Stack>
  );
}
