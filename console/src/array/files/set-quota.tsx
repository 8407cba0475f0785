import { Button, Group, Stack } from '@mantine/core';
import { useState } from 'react';
import { array } from '../../api/array.ts';
import { useAct } from '../../api/queries.ts';
import { useDraft } from '../../app/drafts.ts';
import { useMay } from '../../app/identity.tsx';
import { CommandView } from '../../contract/command-view.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Failed } from '../../parts/messages.tsx';
import { NumberField, SizeField } from '../../parts/number-field.tsx';
import { numberProblem, sizeProblem } from '../../parts/typed-number.ts';

/** Of users, groups and projects. */
const NUMBERS = { min: 0, max: 2 ** 32 - 1 };

type Scope = 'user' | 'group' | 'project';

/** A quota as its form has it. */
interface TypedQuota {
  readonly scope: Scope;
  readonly number: number | undefined;
  /** MiB. */
  readonly size: number | undefined;
}

/** One quota; the operation takes many at once as JSON. */
export function SetQuota({ volume, scope }: { readonly volume: string; readonly scope: Scope }) {
  const [typed, setTyped] = useDraft<TypedQuota | undefined>('quota', () => undefined);
  const may = useMay();
  return (
    <>
      {may(array.quotas.set, { id: volume }) && (
        <Button size="xs" onClick={() => setTyped({ scope, number: undefined, size: undefined })}>
          Set a quota
        </Button>
      )}
      {typed && <QuotaDialog volume={volume} typed={typed} change={setTyped} close={() => setTyped(undefined)} />}
    </>
  );
}

function QuotaDialog(props: {
  readonly volume: string;
  readonly typed: TypedQuota;
  readonly change: (typed: TypedQuota) => void;
  readonly close: () => void;
}) {
  const { volume, typed, change, close } = props;
  const { scope, number, size } = typed;
  const [refused, setRefused] = useState<readonly string[]>([]);
  const acting = useAct(array.quotas.set);
  const input = {
    id: volume,
    quotas: [
      {
        source_id: number ?? 0,
        source_type: scope,
        nas_type: 'uid',
        limit: String(size ?? 0),
      },
    ],
  };
  const isWhole =
    number !== undefined &&
    numberProblem(number, NUMBERS) === undefined &&
    size !== undefined &&
    sizeProblem(size) === undefined;
  async function submit(): Promise<void> {
    if (!isWhole) return;
    try {
      const { value } = await acting.mutateAsync(input);
      if (value && value.errors.length > 0) setRefused(value.errors);
      else close();
    } catch {
      // Shown in the dialog.
    }
  }
  return (
    <Dialog opened onClose={close} title={`Quota of a ${scope}`}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <Stack>
          <NumberField
            label={`Number of the ${scope}`}
            description={scope === 'project' ? 'As the list of projects shows it' : 'As the NFS client has it'}
            {...NUMBERS}
            required
            value={number}
            onChange={(value) => change({ ...typed, number: value })}
          />
          <SizeField
            label="Limit"
            description="Such as 500M, 10 GiB or 2T; a number alone is GiB. 0 removes the quota."
            required
            value={size}
            onChange={(value) => change({ ...typed, size: value })}
          />
          {acting.error && <Failed error={acting.error} />}
          {refused.map((text) => (
            <Failed key={text} error={new Error(text)} />
          ))}
          <CommandView op={array.quotas.set} input={input} />
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              Cancel
            </Button>
            <Button type="submit" loading={acting.isPending} disabled={!isWhole}>
              Set the quota
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
