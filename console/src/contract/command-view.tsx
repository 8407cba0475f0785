import { Code, Stack, Text } from '@mantine/core';
import { commandLine, curlLine, shellWord } from '@granary/contract/command-line';
import type { AnyInput, Op } from '../api/operations.ts';
import { usePlace } from '../api/places.tsx';
import { CommandText } from '../parts/small.tsx';
import { useArrayName } from '../app/array-name.ts';
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
  const isInside = prefix !== undefined && arrayId !== '';
  const name = useArrayName(isInside ? Number(arrayId) : undefined);
  const array = isInside ? (name ?? arrayId) : undefined;
  const isKey = op.api.name !== 'portal' && place.base === '';
  const header = isKey ? 'X-Access-Key: $KEY' : 'X-Token: $TOKEN';
  const url = `${location.origin}${place.base}`;
  return (
    <Stack gap="xs">
      <Text size="xs" c="dimmed">
        The same from a shell. Sign in once with <Code>{signInLine({ prefix, array })}</Code>
        {array !== undefined && (
          <>
            {' '}
            and <Code>{`granary ${prefix} login ${shellWord(array)}`}</Code>
          </>
        )}
        . Without an installed granary, write <Code>npx granary</Code> for <Code>granary</Code>.{' '}
        {isKey ? (
          <>For curl, KEY is your access key: “New access key” on your profile makes one.</>
        ) : (
          <>
            For curl, TOKEN is your token:{' '}
            <Code>{`curl -d username=NAME -d password=PASSWORD ${location.origin}/api/token`}</Code> shows it.
          </>
        )}
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

/** At the portal, or at an array that is signed in to directly. */
function signInLine(where: { readonly prefix: string | undefined; readonly array: string | undefined }): string {
  const isDirect = where.prefix !== undefined && where.array === undefined;
  return `granary ${isDirect ? `${where.prefix} ` : ''}login --url ${location.origin}`;
}
