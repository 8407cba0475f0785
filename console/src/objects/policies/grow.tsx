import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { AnyInput } from '../../api/operations.ts';
import { portal } from '../../api/portal.ts';
import { usePlaces } from '../../api/places.tsx';
import { useRead } from '../../api/queries.ts';
import { useParam } from '../../app/base.ts';
import type { ActionProps } from '../../contract/action-props.ts';
import { ActionButton } from '../../contract/action.tsx';
import { IconPlus } from '../../parts/icons.tsx';
import { sizeActions } from '../../portal/arrays/actions.ts';
import { useActionFacts } from '../../portal/arrays/facts.ts';

/** Drives are ordered at the portal: a button where this console is the portal's, a sentence where it is the array's own. */
export function AddDrives({ policy, type }: { readonly policy: string; readonly type: string | undefined }) {
  const start = type !== undefined && { drives: { [type]: 1 } };
  return (
    <AtThePortal
      what="Drives are"
      op={portal.arrays.addDrives}
      input={{ storage_policy: policy }}
      changes={{
        fields: ['drives'],
        ...(start && { start }),
        about: 'Data moves onto them by itself, in steps (Settings); progress is shown here.',
      }}
    />
  );
}

export function AddPolicy() {
  return (
    <AtThePortal
      what="Storage policies are"
      op={portal.arrays.addStoragePolicy}
      changes={{ about: 'It gets drives of its own.' }}
    />
  );
}

export function AddProxy() {
  return <AtThePortal what="Proxy controllers are" op={portal.arrays.addProxyController} />;
}

interface AtThePortalProps {
  readonly what: string;
  readonly op: { readonly id: string };
  readonly input?: AnyInput;
  readonly changes?: Partial<ActionProps<never>>;
}

function AtThePortal(props: AtThePortalProps): ReactNode {
  const arrayId = useParam('arrayId');
  if (usePlaces()['portal'] && arrayId !== '') return <Ordered {...props} arrayId={Number(arrayId)} />;
  return (
    <Text size="sm" c="dimmed">
      {props.what} added at the portal.
    </Text>
  );
}

/** The form that the portal's own page of the array has. */
function Ordered({ op, input, changes, arrayId }: AtThePortalProps & { readonly arrayId: number }) {
  const array = useRead(portal.arrays.get, { array_id: arrayId }).data?.data;
  const factsOf = useActionFacts();
  const found = array && sizeActions(array, factsOf(array)).find(({ op: own }) => own.id === op.id);
  if (!found) return null;
  return <ActionButton {...found} {...changes} input={{ ...found.input, ...input }} icon={<IconPlus />} />;
}
