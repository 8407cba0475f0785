import {
  Alert,
  Button,
  Card,
  Checkbox,
  Grid,
  Group,
  Radio,
  Select,
  Stack,
  Stepper,
  Text,
  Textarea,
  TextInput,
  Title,
} from '@mantine/core';
import { counted } from '@granary/contract';
import { notifications } from '@mantine/notifications';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState, type Ref, type RefObject } from 'react';
import { portal } from '../../api/portal.ts';
import { useAct, useRead } from '../../api/queries.ts';
import { useDraft } from '../../app/drafts.ts';
import { useSession } from '../../app/session.tsx';
import { CommandView } from '../../contract/command-view.tsx';
import { gigabytes } from '../../parts/format.ts';
import { Empty, Failed, Loading, PageHead } from '../../parts/messages.tsx';
import { NumberField } from '../../parts/number-field.tsx';
import { Extras } from './extras.tsx';
import { DRIVES_MAX, driveCount, inputOf, newOrder, problemsOf, type Order } from './draft.ts';
import { presentPrices } from '../prices/history.ts';
import { PricePanel } from './price-panel.tsx';
import { drivesNeeded, policyTypesOf, type PortalCloud } from './record.ts';

/** An order in steps, with the price beside it from the first choice on. */
export default function OrderArray() {
  const clouds = useRead(portal.clouds.list, {});
  const providers = useRead(portal.providers.list, {});
  if (clouds.isPending || providers.isPending) return <Loading />;
  const error = clouds.error ?? providers.error;
  if (error) return <Failed error={error} />;
  const offered = (providers.data?.data ?? []).filter(({ enabled }) => enabled !== 'false');
  const found = offered.flatMap((provider) => {
    const cloud = clouds.data?.data.find(({ id }) => id === provider.cloud_id);
    return cloud ? [{ provider, cloud }] : [];
  });
  const [first] = found;
  if (!first) {
    return (
      <Empty title="Nothing can be ordered yet.">An administrator has to register a cloud and a provider first.</Empty>
    );
  }
  return <Steps first={first} offers={found} />;
}

export interface Offer {
  readonly provider: { readonly id: string; readonly key: string; readonly name: string };
  readonly cloud: PortalCloud;
}

interface StepsProps {
  readonly first: Offer;
  readonly offers: readonly Offer[];
}

function Steps({ first, offers }: StepsProps) {
  const [order, setOrder] = useDraft<Order>('order', () => newOrder(first));
  const [step, setStep] = useDraft('step', () => 0);
  const heading = useHeadingOf(step);
  const [isCommand, setCommand] = useState(false);
  const ordering = useAct(portal.arrays.create);
  const navigate = useNavigate();
  const offer = offers.find(({ provider }) => provider.key === order.provider) ?? first;
  const prices = useRead(portal.pricing.list, { provider_id: Number(offer.provider.id) });
  const present = presentPrices(prices.data?.data ?? []);
  const change = (part: Partial<Order>) => setOrder((before) => ({ ...before, ...part }));
  const problems = step === 0 ? [] : problemsOf(order, offer.cloud, step === 1 ? 'size' : 'details');
  const input = inputOf(order);

  async function submit(): Promise<void> {
    const { value } = await ordering.mutateAsync(input as never);
    const { id, name } = value?.data ?? {};
    notifications.show({
      color: 'teal',
      message: value?.data.status_message?.startsWith('Waiting')
        ? `${name} waits for an administrator.`
        : `${name} is ordered. It is up in about a minute.`,
    });
    void navigate({ to: id === undefined ? '/arrays' : `/arrays/${id}` });
  }

  return (
    <>
      <PageHead title="Order an array" />
      <Grid gap="lg">
        <Grid.Col span={{ base: 12, md: 7 }}>
          <Stepper active={step} onStepClick={setStep} size="sm" allowNextStepsSelect={false}>
            <Stepper.Step
              label="What"
              description={order.kind === 'object_storage' ? 'Object storage' : 'Block and file'}
            >
              <StepHeading ref={heading} text="What and where" />
              <What order={order} change={change} offers={offers} />
            </Stepper.Step>
            <Stepper.Step label="Size" description={drivesWords(order)}>
              <StepHeading ref={heading} text="Size" />
              <Size order={order} change={change} cloud={offer.cloud} prices={present} />
            </Stepper.Step>
            <Stepper.Step label="Order" description={order.name || 'Name and options'}>
              <StepHeading ref={heading} text="Name and options" />
              <Details order={order} change={change} cloud={offer.cloud} />
              <Extras order={order} change={change} cloud={offer.cloud} />
            </Stepper.Step>
          </Stepper>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 5 }}>
          <Stack>
            <PricePanel order={order} offer={offer} prices={present} />
            {problems.length > 0 && (
              <Alert color="yellow" title={step === 2 ? 'Before it can be ordered' : 'Before the next step'}>
                {problems.map((problem) => (
                  <Text key={problem} size="sm">
                    {problem}
                  </Text>
                ))}
              </Alert>
            )}
            {ordering.error && <Failed error={ordering.error} />}
            {isCommand && <CommandView op={portal.arrays.create} input={input} />}
            <Group justify="space-between">
              <Button variant="subtle" size="xs" onClick={() => setCommand(!isCommand)} aria-pressed={isCommand}>
                Show as command
              </Button>
              <Group>
                {step > 0 && (
                  <Button variant="default" onClick={() => setStep(step - 1)}>
                    Back
                  </Button>
                )}
                {step < 2 ? (
                  <Button onClick={() => setStep(step + 1)} disabled={problems.length > 0}>
                    Next
                  </Button>
                ) : (
                  <Button
                    onClick={() => void submit().catch(() => undefined)}
                    loading={ordering.isPending}
                    disabled={problems.length > 0}
                  >
                    Order
                  </Button>
                )}
              </Group>
            </Group>
          </Stack>
        </Grid.Col>
      </Grid>
    </>
  );
}

function drivesWords(order: Order): string {
  const number = driveCount(order);
  return number === undefined ? '– drives' : counted(number, 'drives');
}

/** The buttons of a step go with it: who uses the keyboard goes on at the heading of the next. */
function useHeadingOf(step: number): RefObject<HTMLHeadingElement | null> {
  const heading = useRef<HTMLHeadingElement>(null);
  const shown = useRef(step);
  useEffect(() => {
    if (shown.current === step) return;
    shown.current = step;
    heading.current?.focus();
  }, [step]);
  return heading;
}

function StepHeading({ ref, text }: { readonly ref: Ref<HTMLHeadingElement>; readonly text: string }) {
  return (
    <Title order={2} size="h4" mb="sm" tabIndex={-1} ref={ref}>
      {text}
    </Title>
  );
}

export interface PartProps {
  readonly order: Order;
  readonly change: (part: Partial<Order>) => void;
}

function What({ order, change, offers }: PartProps & { readonly offers: readonly Offer[] }) {
  const hasObjects = offers.some(({ cloud }) => cloud.objs.enabled);
  const choose = (key: string | null) => {
    const offer = offers.find(({ provider }) => provider.key === key);
    if (offer) change({ ...newOrder(offer), name: order.name, kind: order.kind });
  };
  return (
    <Stack>
      <Radio.Group label="What do you need?" value={order.kind} onChange={(kind) => change({ kind: kind })}>
        <Stack mt="xs" gap="xs">
          <Radio
            value="storage_array"
            label="Disks and file shares"
            description="Volumes over iSCSI, shares over NFS"
          />
          <Radio
            value="object_storage"
            label="Object storage"
            description="Buckets over S3 and Swift"
            disabled={!hasObjects}
          />
        </Stack>
      </Radio.Group>
      <Select
        label="Where"
        data={offers.map(({ provider }) => ({ value: provider.key, label: provider.name }))}
        value={order.provider}
        onChange={choose}
        allowDeselect={false}
      />
    </Stack>
  );
}

interface SizeProps extends PartProps {
  readonly cloud: PortalCloud;
  /** USD per hour by `kind:key`. */
  readonly prices: ReadonlyMap<string, number>;
}

function Size({ order, change, cloud, prices }: SizeProps) {
  const setDrives = (key: string, count: number | undefined) => {
    const { [key]: _, ...others } = order.drives;
    change({ drives: count === undefined || count === 0 ? others : { ...others, [key]: count } });
  };
  const raw = cloud.drive_types.reduce((sum, { key, capacity_gb: gb }) => sum + gb * (order.drives[key] ?? 0), 0);
  return (
    <Stack>
      {order.kind === 'storage_array' && (
        <Radio.Group label="Engine" value={order.engine} onChange={(engine) => change({ engine })}>
          <Stack mt="xs" gap="xs">
            {cloud.engine_types.map(({ key, name, specs, max_drives: most, hourly_price_usd: price }) => (
              <Radio
                key={key}
                value={key}
                label={`${name}: ${specs}`}
                description={`Up to ${most} drives, ${prices.get(`engine:${key}`) ?? price} USD per hour`}
              />
            ))}
          </Stack>
        </Radio.Group>
      )}
      {order.kind === 'object_storage' && <PolicyChoice order={order} change={change} cloud={cloud} />}
      <Text size="sm" fw={500}>
        Drives
      </Text>
      {cloud.drive_types.map(({ key, name, capacity_gb: gb, hourly_price_usd: price }) => (
        <NumberField
          key={key}
          label={name}
          description={`${gigabytes(gb)} each, ${prices.get(`drive:${key}`) ?? price} USD per hour`}
          min={0}
          max={DRIVES_MAX}
          value={order.drives[key]}
          whenEmpty={0}
          onChange={(count) => setDrives(key, count)}
        />
      ))}
      <Text size="sm">
        {gigabytes(driveCount(order) === undefined ? undefined : raw)} of drives.{' '}
        {order.kind === 'storage_array'
          ? 'Mirrored pairs leave half of it, RAID6 all but two drives of a group.'
          : 'Copies, or parity, take their share of it.'}
      </Text>
    </Stack>
  );
}

function PolicyChoice({ order, change, cloud }: PartProps & { readonly cloud: PortalCloud }) {
  const types = policyTypesOf(cloud);
  return (
    <Radio.Group
      label="How objects are kept"
      value={String(order.policyType ?? '')}
      onChange={(id) => change({ policyType: Number(id) })}
    >
      <Stack mt="xs" gap="xs">
        {types.map((type) => (
          <Radio
            key={type.id}
            value={String(type.id)}
            label={type.name}
            description={`At least ${drivesNeeded(type)} drives`}
          />
        ))}
      </Stack>
    </Radio.Group>
  );
}

function Details({ order, change, cloud }: PartProps & { readonly cloud: PortalCloud }) {
  return (
    <Card p={0}>
      <Stack>
        <TextInput
          label="Name"
          required
          value={order.name}
          onChange={(event) => change({ name: event.currentTarget.value })}
          data-autofocus
        />
        <Textarea
          label="Description"
          value={order.description}
          onChange={(event) => change({ description: event.currentTarget.value })}
          autosize
        />
        {cloud.zones.length > 1 && (
          <Select
            label="Zone"
            description="Left open, Granary spreads the drives"
            placeholder="Any zone"
            clearable
            data={cloud.zones.map(({ allocation_zone_name: value, allocation_zone_disp_name: label }) => ({
              value,
              label,
            }))}
            value={order.zone ?? null}
            onChange={(zone) => change({ zone: zone ?? undefined })}
          />
        )}
        {order.kind === 'storage_array' && (
          <>
            <Checkbox
              label="Make pools at once"
              description="Mirrored pairs of its drives, so that volumes can be made right away"
              checked={order.makesPools}
              onChange={(event) => change({ makesPools: event.currentTarget.checked })}
            />
            <Checkbox
              label="File lifecycle"
              description="Files of shares can be archived to object storage or expire"
              checked={order.fileLifecycle}
              onChange={(event) => change({ fileLifecycle: event.currentTarget.checked })}
            />
          </>
        )}
        <Approval order={order} change={change} />
      </Stack>
    </Card>
  );
}

/** Only those whose orders act at once may choose. */
function Approval({ order, change }: PartProps) {
  const { role, auto_approved: isAutoApproved } = useSession();
  if (role !== 'admin' && isAutoApproved !== true)
    return <Text size="sm">An administrator approves the order before the array is made.</Text>;
  return (
    <Checkbox
      label="Ask an administrator first"
      description="The order waits until it is approved"
      checked={order.moderate}
      onChange={(event) => change({ moderate: event.currentTarget.checked })}
    />
  );
}
