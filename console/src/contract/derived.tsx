import type { Api } from '@granary/contract';
import { Accordion, Code, Group, Stack, Text } from '@mantine/core';
import { findOperation } from '../api/operations.ts';
import { useAddressText } from '../app/base.ts';
import { useMay } from '../app/identity.tsx';
import { words } from '../parts/format.ts';
import { PageHead } from '../parts/messages.tsx';
import { ActionButton } from './action.tsx';

/** Every operation of an API that the person may call, by group: what has no page of its own is done here. */
export function EveryOperation({ api }: { readonly api: Api }) {
  const may = useMay();
  const [open, setOpen] = useAddressText('group');
  const groups = Object.entries(api.groups).map(([group, endpoints]) => {
    const all = Object.keys(endpoints).flatMap((name) => findOperation(api, group, name) ?? []);
    return [group, all.filter((op) => may(op))] as const;
  });
  return (
    <>
      <PageHead
        title="Everything else"
        about="Every operation of the API that you may call, as a form and as a command."
      />
      <Accordion value={open} onChange={(value) => setOpen(value ?? '')}>
        {groups
          .filter(([, all]) => all.length > 0)
          .map(([group, all]) => (
            <Accordion.Item key={group} value={group}>
              <Accordion.Control>{words(group)}</Accordion.Control>
              <Accordion.Panel>
                <Stack gap="xs">
                  {all.map((op) => (
                    <Group key={op.id} justify="space-between" wrap="nowrap">
                      <div>
                        <Text size="sm">{op.endpoint.summary}</Text>
                        <Code>
                          {op.endpoint.method} {op.endpoint.path}
                        </Code>
                      </div>
                      <ActionButton
                        op={op}
                        label={words(op.name)}
                        isSmall
                        showsReply
                        {...dangerOf(op.endpoint.method)}
                      />
                    </Group>
                  ))}
                </Stack>
              </Accordion.Panel>
            </Accordion.Item>
          ))}
      </Accordion>
    </>
  );
}

function dangerOf(method: string): { readonly destroys?: string } {
  return method === 'DELETE' ? { destroys: 'delete' } : {};
}
