import { Button, Group, Radio, Stack, Text, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useState, type SubmitEvent } from 'react';
import { portal } from '../../api/portal.ts';
import { useAct } from '../../api/queries.ts';
import { useMay } from '../../app/identity.tsx';
import { CommandView } from '../../contract/command-view.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Failed } from '../../parts/messages.tsx';
import type { Input } from '../../api/operations.ts';
import { utcMinute, type PricedItem } from './history.ts';

type Kind = Input<typeof portal.pricing.set.endpoint>['kind'];

interface SetPriceProps {
  readonly item: PricedItem;
  readonly providerId: number;
  /** What has the price, in words. */
  readonly title: string;
  readonly close: () => void;
}

/** A price from now on, or from a moment in the viewer's zone. */
export function SetPrice({ item, providerId, title, close }: SetPriceProps) {
  const [price, setPrice] = useState(item.present?.hourly_price_usd ?? '');
  const [when, setWhen] = useState('now');
  const [local, setLocal] = useState('');
  const acting = useAct(portal.pricing.set);
  const from = when === 'now' ? undefined : utcMinute(local);
  const { kind, key } = item;
  const input = { provider_id: providerId, kind: kind as Kind, key, price, ...(from !== undefined && { from }) };

  async function submit(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    await acting.mutateAsync(input);
    notifications.show({ color: 'teal', message: from === undefined ? 'It counts from now on.' : 'It is planned.' });
    close();
  }

  return (
    <Dialog opened onClose={close} title={`Price: ${title}`}>
      <form onSubmit={(event) => void submit(event).catch(() => undefined)}>
        <Stack>
          <TextInput
            label="USD per hour"
            inputMode="decimal"
            required
            value={price}
            onChange={(event) => setPrice(event.currentTarget.value)}
            data-autofocus
          />
          <Radio.Group label="From when" value={when} onChange={setWhen}>
            <Group mt={4}>
              <Radio value="now" label="Now" />
              <Radio value="later" label="Later" />
            </Group>
          </Radio.Group>
          {when === 'later' && (
            <TextInput
              type="datetime-local"
              label="Day and time"
              description="In your time zone. What was planned after it is dropped."
              required
              value={local}
              onChange={(event) => setLocal(event.currentTarget.value)}
            />
          )}
          {acting.error && <Failed error={acting.error} />}
          <CommandView op={portal.pricing.set} input={input} />
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              Cancel
            </Button>
            <Button type="submit" loading={acting.isPending} disabled={price === '' || (when !== 'now' && !from)}>
              Set the price
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}

export function SetPriceButton({ open }: { readonly open: () => void }) {
  const may = useMay();
  if (!may(portal.pricing.set)) return null;
  return (
    <Button size="compact-sm" variant="default" onClick={open} aria-label="Set the price">
      <Text span inherit visibleFrom="sm">
        Set the price
      </Text>
      <Text span inherit hiddenFrom="sm">
        Set
      </Text>
    </Button>
  );
}
