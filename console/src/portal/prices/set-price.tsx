import { Button, Group, Radio, Stack, Text, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import type { SubmitEvent } from 'react';
import { portal } from '../../api/portal.ts';
import { useAct } from '../../api/queries.ts';
import { useMay } from '../../app/identity.tsx';
import { CommandView } from '../../contract/command-view.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Failed } from '../../parts/messages.tsx';
import type { Input } from '../../api/operations.ts';
import { utcMinute, type PricedItem } from './history.ts';

type Kind = Input<typeof portal.pricing.set.endpoint>['kind'];

/** A price of an item as its form has it. */
export interface TypedPrice {
  readonly kind: string;
  readonly key: string;
  readonly price: string;
  readonly isLater: boolean;
  /** In the viewer's zone. */
  readonly day: string;
}

/** Kept as it is typed: money has no rounding. */
function priceProblem(price: string): string | undefined {
  return price === '' || /^\d{1,9}(\.\d{1,9})?$/.test(price) ? undefined : 'Must be an amount such as 0.25.';
}

export function presentPrice({ kind, key, present }: PricedItem): TypedPrice {
  return { kind, key, price: present?.hourly_price_usd ?? '', isLater: false, day: '' };
}

interface SetPriceProps {
  readonly typed: TypedPrice;
  readonly providerId: number;
  /** What has the price, in words. */
  readonly title: string;
  readonly change: (typed: TypedPrice) => void;
  readonly close: () => void;
}

/** A price from now on, or from a moment in the viewer's zone. */
export function SetPrice({ typed, providerId, title, change, close }: SetPriceProps) {
  const { kind, key, price, isLater, day } = typed;
  const acting = useAct(portal.pricing.set);
  const from = isLater ? utcMinute(day) : undefined;
  const input = { provider_id: providerId, kind: kind as Kind, key, price, ...(from !== undefined && { from }) };

  async function submit(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    if (price === '' || priceProblem(price) !== undefined) return;
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
            error={priceProblem(price)}
            onChange={(event) => change({ ...typed, price: event.currentTarget.value })}
            data-autofocus
          />
          <Radio.Group
            label="From when"
            value={isLater ? 'later' : 'now'}
            onChange={(when) => change({ ...typed, isLater: when === 'later' })}
          >
            <Group mt={4}>
              <Radio value="now" label="Now" />
              <Radio value="later" label="Later" />
            </Group>
          </Radio.Group>
          {isLater && (
            <TextInput
              type="datetime-local"
              label="Day and time"
              description="In your time zone. What was planned after it is dropped."
              required
              value={day}
              onChange={(event) => change({ ...typed, day: event.currentTarget.value })}
            />
          )}
          {acting.error && <Failed error={acting.error} />}
          <CommandView op={portal.pricing.set} input={input} />
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              Cancel
            </Button>
            <Button
              type="submit"
              loading={acting.isPending}
              disabled={price === '' || priceProblem(price) !== undefined || (isLater && !from)}
            >
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
