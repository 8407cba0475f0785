import assert from 'node:assert/strict';
import { test } from 'node:test';
import { turns } from '../../../testing/turns.ts';
import { AbortedError, InitiatorProtocolError, RejectError, ScsiError, SessionClosedError } from './errors.ts';
import { FakeTarget, type FakeConnection, type Pdu } from './fake-target.ts';
import { Initiator, type LoginOptions } from './initiator.ts';
import type { InitiatorSession } from './session.ts';
import { FINAL, get32, NO_TAG, opcodes } from './wire.ts';

type Script = FakeConnection['script'];

/** Runs `story` in a session with a fake that follows `script`. */
async function withFake(
  script: Script,
  story: (session: InitiatorSession, target: FakeTarget) => Promise<void>,
  answers: Record<string, string> = {},
  limits: Pick<LoginOptions, 'commandMsMax'> = {},
): Promise<void> {
  const target = await FakeTarget.start(script, answers);
  try {
    const { host, port, targetName } = target;
    const session = await Initiator.login({ host, port, targetName, ...limits });
    try {
      await story(session, target);
    } finally {
      session.destroy();
    }
  } finally {
    await target.stop();
  }
}

const onCommand =
  (answer: (pdu: Pdu, connection: FakeConnection) => void): Script =>
  (pdu, connection) => {
    if (pdu.opcode === opcodes.scsiCommand) answer(pdu, connection);
  };

/** A read of one block that the fake answers wrongly. */
function wrongRead(rule: string, complaint: RegExp, answer: (pdu: Pdu, connection: FakeConnection) => void): void {
  test(`the initiator refuses ${rule}`, async () => {
    await withFake(onCommand(answer), async (session) => {
      await assert.rejects(session.lun(0).read(0, 1), (error) => {
        assert.ok(error instanceof InitiatorProtocolError, String(error));
        assert.match(error.message, complaint);
        return true;
      });
      assert.equal(session.isOpen, false);
    });
  });
}

const block = Buffer.alloc(512, 7);
const dataIn = { opcode: opcodes.dataIn, flags: FINAL | 1, data: block };

wrongRead('a StatSN out of turn', /StatSN 999/, (pdu, fake) => fake.reply(pdu, { ...dataIn, statusSn: 999 }));
wrongRead('a DataSN out of turn', /DataSN 3/, (pdu, fake) => fake.reply(pdu, { ...dataIn, dataSn: 3 }));
wrongRead('data at another offset', /byte 4 to|bytes 4 to/, (pdu, fake) => fake.reply(pdu, { ...dataIn, offset: 4 }));
wrongRead('more data than it asked for', /bytes 0 to 1024 of 512/, (pdu, fake) =>
  fake.reply(pdu, { ...dataIn, data: Buffer.alloc(1024) }),
);
wrongRead('fewer bytes than the residual accounts for', /256 of 512 bytes came/, (pdu, fake) =>
  fake.reply(pdu, { ...dataIn, data: Buffer.alloc(256) }),
);
wrongRead('GOOD without any data', /0 of 512 bytes came/, (pdu, fake) => fake.good(pdu));
wrongRead('an answer to a task it does not know', /not under way/, (pdu, fake) => fake.good(pdu, { tag: 0x77777 }));
wrongRead('a data segment above what it declared', /we declared 262144/, (pdu, fake) =>
  fake.reply(pdu, { ...dataIn, claimedLength: 300_000 }),
);
wrongRead('an ExpCmdSN beyond what it has sent', /ExpCmdSN 50/, (pdu, fake) => {
  fake.reply(pdu, { ...dataIn, expectedCommandSn: 50 });
});
wrongRead('a status in the middle of a sequence', /not the last/, (pdu, fake) =>
  fake.reply(pdu, { ...dataIn, flags: 1 }),
);
wrongRead('an opcode that answers nothing', /no answer to task/, (pdu, fake) =>
  fake.reply(pdu, { opcode: opcodes.textResponse }),
);
wrongRead('an ExpDataSN that counts PDUs which never came', /ExpDataSN 2/, (pdu, fake) => {
  fake.reply(pdu, { ...dataIn, flags: FINAL });
  fake.good(pdu, { dataSn: 2 });
});

function wrongR2T(
  rule: string,
  complaint: RegExp,
  r2t: { dataSn?: number; offset: number; last: number; transferTag?: number },
) {
  test(`the initiator refuses ${rule}`, async () => {
    const script = onCommand((pdu, fake) =>
      fake.reply(pdu, { opcode: opcodes.readyToTransfer, transferTag: 9, ...r2t }),
    );
    await withFake(script, async (session) => {
      await assert.rejects(session.lun(0).write(0, Buffer.alloc(131_072)), complaint);
    });
  });
}

wrongR2T('an R2T beyond the data', /of 131072/, { offset: 131_072, last: 512 });
wrongR2T('an R2T above MaxBurstLength', /at most 65536/, { offset: 16_384, last: 65_537 });
wrongR2T('an R2T for nothing', /R2T for 0 bytes/, { offset: 16_384, last: 0 });
wrongR2T('an R2TSN out of turn', /R2TSN 1/, { offset: 16_384, last: 512, dataSn: 1 });
wrongR2T('an R2T for data it has sent already', /from byte 0/, { offset: 0, last: 512 });
wrongR2T('an R2T without a tag', /transfer tag/, { offset: 16_384, last: 512, transferTag: NO_TAG });

test('a write sends immediate, then unsolicited, then just the solicited data, in PDUs the target can take', async () => {
  const data = Buffer.from(Array.from({ length: 40_960 }, (_, index) => index % 251));
  const script: Script = (pdu, fake) => {
    const r2t = { opcode: opcodes.readyToTransfer, transferTag: 77 };
    if (pdu.opcode === opcodes.dataOut && get32(pdu.header, 20) === NO_TAG) {
      fake.reply(pdu, { ...r2t, offset: 16_384, last: 20_000 });
    } else if (pdu.opcode === opcodes.dataOut && ((pdu.header[1] as number) & FINAL) !== 0) {
      const end = get32(pdu.header, 40) + pdu.data.length;
      if (end === data.length) fake.good(pdu, { dataSn: 2 });
      else fake.reply(pdu, { ...r2t, dataSn: 1, offset: 36_384, last: data.length - 36_384 });
    }
  };
  await withFake(script, async (session, target) => {
    await session.lun(0).write(3, data);
    const sent = target.connections[0]!.seen.filter(({ data: { length } }) => length > 0).slice(2);
    const pieces = sent.map((pdu) => [pdu.opcode === opcodes.scsiCommand ? 0 : get32(pdu.header, 40), pdu.data.length]);
    assert.deepEqual(pieces, [
      [0, 8192],
      [8192, 8192],
      [16_384, 8192],
      [24_576, 8192],
      [32_768, 3616],
      [36_384, 4576],
    ]);
    assert.ok(Buffer.concat(sent.map((pdu) => pdu.data)).equals(data));
  });
});

test('with ImmediateData=No and InitialR2T=Yes a write sends nothing before it is asked', async () => {
  const script: Script = (pdu, fake) => {
    if (pdu.opcode === opcodes.dataOut) {
      fake.good(pdu, { dataSn: 1 });
      return;
    }
    assert.equal(pdu.data.length, 0);
    fake.reply(pdu, { opcode: opcodes.readyToTransfer, transferTag: 5, offset: 0, last: 4096 });
  };
  await withFake(script, (session) => session.lun(0).write(0, Buffer.alloc(4096)), {
    ImmediateData: 'No',
    InitialR2T: 'Yes',
  });
});

test('no more commands are sent than the window allows; the rest follow as it opens', async () => {
  const held: Pdu[] = [];
  const shut = Promise.withResolvers<() => void>();
  const script = onCommand((pdu, fake) => {
    fake.window = 0;
    held.push(pdu);
    if (held.length === 32) shut.resolve(() => fake.good(pdu, { commandSnMax: 40 }));
    if (held.length === 40) for (const one of held) if (one !== held[31]) fake.good(one, { commandSnMax: 40 });
  });
  await withFake(script, async (session) => {
    const lun = session.lun(0);
    const done = Promise.all(Array.from({ length: 40 }, () => lun.testUnitReady()));
    const open = await shut.promise;
    // Time for a command too many to arrive.
    await turns();
    assert.equal(held.length, 32);
    open();
    await done;
    assert.equal(session.window, 0);
  });
});

test('a target that pings is answered with its tag', async () => {
  const answered = Promise.withResolvers<number>();
  const script: Script = (pdu, fake) => {
    if (pdu.opcode === opcodes.nopOut) answered.resolve(get32(pdu.header, 20));
    else fake.reply(pdu, { opcode: opcodes.nopIn, tag: NO_TAG, transferTag: 4711 });
  };
  await withFake(script, async (session) => {
    session
      .lun(0)
      .testUnitReady()
      .catch(() => undefined);
    assert.equal(await answered.promise, 4711);
  });
});

test('CHECK CONDITION comes as an error with its sense, and unit attentions are kept', async () => {
  const sense = Buffer.from('0012700006000000000a000000002900'.padEnd(40, '0'), 'hex');
  await withFake(
    onCommand((pdu, fake) => fake.good(pdu, { status: 2, data: sense, flags: FINAL | 2, last: 512 })),
    async (session) => {
      await assert.rejects(session.lun(3).read(0, 1), (error) => {
        assert.ok(error instanceof ScsiError && error.isUnitAttention);
        assert.deepEqual([error.status, error.sense?.asc, error.sense?.ascq], [2, 0x29, 0]);
        return true;
      });
      assert.deepEqual(
        session.unitAttentions.map(({ lun }) => lun),
        [3],
      );
    },
  );
});

test('a rejected PDU fails its command alone', async () => {
  await withFake(
    onCommand((pdu, fake) => fake.reply(pdu, { opcode: opcodes.reject, byte2: 9, tag: NO_TAG, data: pdu.header })),
    async (session) => {
      await assert.rejects(session.lun(0).testUnitReady(), RejectError);
      assert.equal(session.isOpen, true);
    },
  );
});

test('a command without an answer ends the session when its time is over', async () => {
  await withFake(
    onCommand(() => undefined),
    async (session) => {
      await assert.rejects(session.lun(0).testUnitReady(), /No answer within 500 ms/);
      assert.throws(() => session.lun(0).begin(Buffer.alloc(6)), SessionClosedError);
    },
    {},
    { commandMsMax: 500 },
  );
});

test('a dropped connection fails everything outstanding', async () => {
  await withFake(
    onCommand((_, fake) => fake.drop()),
    async (session) => {
      const lun = session.lun(0);
      const ends = await Promise.allSettled([lun.testUnitReady(), lun.read(0, 1), lun.write(0, block)]);
      assert.ok(ends.every(({ status }) => status === 'rejected'));
    },
  );
});

test('a digest that was not offered is refused at login', async () => {
  await assert.rejects(
    withFake(
      () => undefined,
      async () => undefined,
      { HeaderDigest: 'CRC32C' },
    ),
    /we offered None/,
  );
});

test('a length that was raised by the target is refused at login', async () => {
  await assert.rejects(
    withFake(
      () => undefined,
      async () => undefined,
      { MaxBurstLength: '9999999' },
    ),
    /only go down/,
  );
});

test('an aborted task has no answer; the others of its unit have', async () => {
  const held: Pdu[] = [];
  const script: Script = (pdu, fake) => {
    if (pdu.opcode === opcodes.scsiCommand) {
      held.push(pdu);
      return;
    }
    assert.deepEqual([pdu.header[1], get32(pdu.header, 20)], [FINAL | 1, get32(held[0]!.header, 16)]);
    assert.equal(get32(pdu.header, 32), get32(held[0]!.header, 24), 'RefCmdSN');
    fake.reply(pdu, { opcode: opcodes.taskManagementResponse });
    fake.good(held[1]!);
  };
  await withFake(script, async (session) => {
    const lun = session.lun(2);
    const first = lun.begin(Buffer.alloc(6));
    const second = lun.begin(Buffer.alloc(6));
    const aborted = assert.rejects(first.done, AbortedError);
    assert.equal(await lun.abortTask(first.tag), 0);
    await aborted;
    assert.equal((await second.done).status, 0);
  });
});

test('a reset of one unit ends the tasks of that unit only', async () => {
  const held: Pdu[] = [];
  const script: Script = (pdu, fake) => {
    if (pdu.opcode === opcodes.scsiCommand) held.push(pdu);
    if (pdu.opcode !== opcodes.taskManagement) return;
    fake.reply(pdu, { opcode: opcodes.taskManagementResponse });
    fake.good(held[1]!);
  };
  await withFake(script, async (session) => {
    const ended = assert.rejects(session.lun(0).testUnitReady(), AbortedError);
    const other = session.lun(1).testUnitReady();
    assert.equal(await session.lun(0).reset(), 0);
    await Promise.all([ended, other]);
  });
});

test('what the target tells without being asked is kept', async () => {
  const script = onCommand((pdu, fake) => {
    fake.reply(pdu, { opcode: opcodes.asyncMessage, tag: NO_TAG, dataSn: 0x01000000, statusSn: fake.statusSn });
    fake.statusSn += 1;
    fake.good(pdu);
  });
  await withFake(script, async (session) => {
    await session.lun(0).testUnitReady();
    assert.deepEqual(session.asyncMessages, [{ event: 1, lun: 0, sense: undefined }]);
  });
});

test('commands of a closed session are rejected, not thrown', async () => {
  await withFake(
    () => undefined,
    async (session) => {
      await session.close();
      const lun = session.lun(0);
      await assert.rejects(lun.read(0, 1), SessionClosedError);
      await assert.rejects(lun.write(0, block), SessionClosedError);
      await assert.rejects(session.ping(), SessionClosedError);
    },
  );
});
