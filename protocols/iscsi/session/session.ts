import type { BufferSource } from '../buffers.ts';
import type { Limits } from '../limits.ts';
import type { LoginResult } from '../login/exchange.ts';
import { CONNECTION_DROPPED, InitiatorOpcode, RESERVED_TAG, RejectReason } from '../pdu/opcodes.ts';
import { ProtocolError } from '../pdu/receiver.ts';
import type { LogicalUnit } from '../scsi/logical-unit.ts';
import { Attachment, type Nexus } from '../scsi/nexus.ts';
import { Attention } from '../scsi/sense.ts';
import { decodeLun } from '../scsi/unit-control.ts';
import { CommandWindow } from './command-window.ts';
import type { Counters } from './counters.ts';
import { EarlyPdus } from './early-pdus.ts';
import { Executor } from './executor.ts';
import { Responder } from './responder.ts';
import { isColdReset, manageTasks, type ManagedSession } from './task-management.ts';
import { TextExchange, type TargetLister } from './text-exchange.ts';
import type { Output } from './output.ts';
import type { FrameFormat } from '../pdu/frame.ts';

const IMMEDIATE = 0x40;
const OPCODE_MASK = 0x3f;
const LOGOUT_OK = 0;
const LOGOUT_UNKNOWN_CONNECTION = 1;
const LOGOUT_RECOVERY_NOT_SUPPORTED = 2;
const CLOSE_CONNECTION = 1;
const RECOVER_CONNECTION = 2;

/** One unit an initiator sees, and how. */
export interface VisibleUnit {
  readonly unit: LogicalUnit;
  readonly readOnly: boolean;
}

/** What a session needs from the target it is logged in to; discovery sessions have none. */
export interface SessionTarget {
  readonly iqn: string;
  /** Units by the LUN the initiator sees them under. */
  visibleUnits(session: IscsiSession): ReadonlyMap<number, VisibleUnit>;
  resetUnits(): Promise<void>;
  dropSessions(reason: string): void;
}

/** What a session needs from the connection it runs on. */
export interface SessionLink {
  readonly output: Output;
  readonly format: FrameFormat;
  readonly address: string;
  /** Sends what is queued and closes. */
  end(reason: string): void;
  /** Reports an error of our own and closes. */
  fail(error: unknown): void;
}

export interface SessionOptions {
  readonly handle: number;
  readonly login: LoginResult;
  readonly target: SessionTarget | undefined;
  /** The label that the authorisation gave it. */
  readonly label: string;
  readonly limits: Limits;
  readonly buffers: BufferSource;
  readonly statusNumber: number;
  readonly link: SessionLink;
  readonly listTargets: TargetLister;
}

/** A session in full-feature phase: takes what the initiator sends, in order, and sees that it is carried out. */
export class IscsiSession implements Nexus, ManagedSession {
  readonly handle: number;
  readonly initiatorName: string;
  readonly initiatorAlias: string;
  readonly isid: string;
  readonly label: string;
  readonly executor: Executor;
  readonly link: SessionLink;
  readonly #options: SessionOptions;
  readonly #window: CommandWindow;
  readonly #responder: Responder;
  readonly #text: TextExchange;
  readonly #attachments = new Map<number, Attachment>();
  readonly #early: EarlyPdus;
  #ended: Promise<void> | undefined;

  constructor(options: SessionOptions) {
    const { login, limits, buffers, link } = options;
    this.#options = options;
    this.handle = options.handle;
    this.initiatorName = login.initiatorName;
    this.initiatorAlias = login.initiatorAlias;
    this.isid = login.isid;
    this.label = options.label;
    this.link = link;
    this.#window = new CommandWindow(login.commandNumber, limits.queueDepth);
    this.#early = new EarlyPdus(limits.earlyBytesMax);
    const { parameters } = login;
    this.#responder = new Responder(link.output, link.format, this.#window, parameters, options.statusNumber);
    this.#text = new TextExchange(this.#responder, parameters, limits, options.listTargets);
    this.executor = new Executor({
      nexus: this,
      limits,
      buffers,
      parameters,
      window: this.#window,
      responder: this.#responder,
      fail: (error) => link.fail(error),
    });
  }

  get targetName(): string {
    return this.#options.target?.iqn ?? '';
  }

  get counters(): Readonly<Counters> {
    return this.executor.counters;
  }

  lunNumbers(): number[] {
    return [...this.#attachments.keys()].sort((one, other) => one - other);
  }

  attachmentAt(lun: number): Attachment | undefined {
    return this.#attachments.get(lun);
  }

  abortTasks(unit: LogicalUnit, notifyInitiator: boolean): Promise<void> {
    return this.executor.abortAll(unit, notifyInitiator ? 'answered' : 'unanswered');
  }

  async resetTarget(): Promise<void> {
    await this.#options.target?.resetUnits();
  }

  /** Follows what the target shows this initiator now; true when it differs from before. */
  refreshUnits(): boolean {
    const visible = this.#options.target?.visibleUnits(this) ?? new Map<number, VisibleUnit>();
    let changed = false;
    for (const [lun, attachment] of this.#attachments) {
      if (visible.get(lun)?.unit === attachment.unit) continue;
      this.#attachments.delete(lun);
      attachment.unit.detach(attachment);
      changed = true;
    }
    for (const [lun, { unit, readOnly }] of visible) {
      const existing = this.#attachments.get(lun);
      if (existing !== undefined) {
        existing.readOnly = readOnly;
        continue;
      }
      const attachment = new Attachment(unit, this, readOnly);
      this.#attachments.set(lun, attachment);
      unit.attach(attachment);
      changed = true;
    }
    return changed;
  }

  notifyLunsChanged(): void {
    for (const attachment of this.#attachments.values()) attachment.raise(Attention.reportedLunsChanged);
  }

  destination(header: Buffer, dataLength: number): Buffer | undefined {
    const isDataOut = ((header[0] ?? 0) & OPCODE_MASK) === InitiatorOpcode.dataOut;
    return isDataOut ? this.executor.destination(header, dataLength) : undefined;
  }

  pdu(header: Buffer, data: Buffer): void {
    const first = header[0] ?? 0;
    const opcode = first & OPCODE_MASK;
    if (opcode === InitiatorOpcode.dataOut) {
      this.executor.dataOut(header, data);
      return;
    }
    if ((first & IMMEDIATE) !== 0 || opcode === InitiatorOpcode.snack) {
      this.#handle(opcode, header, data);
      return;
    }
    const number = header.readUInt32BE(24);
    switch (this.#window.place(number)) {
      case 'outside':
        return;
      case 'early':
        this.#early.hold(number, header, data);
        return;
      case 'next':
        this.#window.received();
        this.#handle(opcode, header, data);
        if (this.#early.size > 0) this.#handleEarly();
    }
  }

  #handleEarly(): void {
    for (;;) {
      const held = this.#early.dequeue(this.#window.expected);
      if (held === undefined || this.#ended !== undefined) return;
      this.#window.received();
      this.#handle((held.header[0] ?? 0) & OPCODE_MASK, held.header, held.data);
    }
  }

  #handle(opcode: number, header: Buffer, data: Buffer): void {
    if (opcode === InitiatorOpcode.scsiCommand) {
      this.#scsiCommand(header, data);
      return;
    }
    // Everything but SCSI commands makes room in the window at once; what is slow among it is rare.
    // A SNACK has no number and took no place.
    if (((header[0] ?? 0) & IMMEDIATE) === 0 && opcode !== InitiatorOpcode.snack) this.#window.ended();
    switch (opcode) {
      case InitiatorOpcode.nopOut:
        this.#nopOut(header, data);
        return;
      case InitiatorOpcode.text:
        this.#text.handle(header, data);
        return;
      case InitiatorOpcode.logout:
        this.#logout(header);
        return;
      case InitiatorOpcode.taskManagement:
        this.#taskManagement(header);
        return;
      case InitiatorOpcode.snack:
        this.#responder.reject(header, RejectReason.commandNotSupported);
        return;
      default:
        throw new ProtocolError(`opcode 0x${opcode.toString(16)} is not expected here`);
    }
  }

  #scsiCommand(header: Buffer, data: Buffer): void {
    if (this.#options.target === undefined) throw new ProtocolError('a discovery session carries no SCSI commands');
    if (this.executor.isInUse(header.readUInt32BE(16))) throw new ProtocolError('a task tag is used twice at once');
    const immediate = ((header[0] ?? 0) & IMMEDIATE) !== 0;
    if (immediate && this.executor.immediateCommands >= this.#options.limits.immediateCommandsMax) {
      this.#responder.reject(header, RejectReason.tooManyImmediateCommands);
      return;
    }
    this.executor.start(header, data, this.#attachments.get(decodeLun(header, 8)));
  }

  #nopOut(header: Buffer, data: Buffer): void {
    const tag = header.readUInt32BE(16);
    // Without a tag it is the answer to a ping of ours, and that it came is all there is to know.
    if (tag !== RESERVED_TAG) this.#responder.nopIn(tag, data);
  }

  #taskManagement(header: Buffer): void {
    if (this.#options.target === undefined) throw new ProtocolError('a discovery session has no tasks');
    const tag = header.readUInt32BE(16);
    const cold = isColdReset(header);
    const done = manageTasks(header, this).then((response) => {
      if (this.#ended !== undefined) return;
      this.#responder.taskManagementResponse(tag, response);
      if (cold) this.#options.target?.dropSessions('target cold reset');
    });
    done.catch((error: unknown) => this.link.fail(error));
  }

  #logout(header: Buffer): void {
    const tag = header.readUInt32BE(16);
    const reason = (header[1] ?? 0) & 0x7f;
    if (reason === RECOVER_CONNECTION) {
      this.#responder.logoutResponse(tag, LOGOUT_RECOVERY_NOT_SUPPORTED);
      return;
    }
    if (reason === CLOSE_CONNECTION && header.readUInt16BE(20) !== this.#options.login.connectionId) {
      this.#responder.logoutResponse(tag, LOGOUT_UNKNOWN_CONNECTION);
      return;
    }
    // The response says that nothing of the session runs any more, so it waits for that.
    const ended = this.close();
    const answer = () => {
      this.#responder.logoutResponse(tag, LOGOUT_OK);
      this.link.end('logout');
    };
    ended.then(answer, answer);
  }

  ping(): void {
    this.#responder.ping(RESERVED_TAG - 1);
  }

  /** Tells the initiator that the connection is about to go. */
  announceDrop(): void {
    if (this.#ended === undefined) this.#responder.asyncMessage(CONNECTION_DROPPED, this.#options.login.connectionId);
  }

  /** Ends everything under way; resolves when no device works for this session any more. */
  close(): Promise<void> {
    if (this.#ended !== undefined) return this.#ended;
    this.#ended = this.executor.close();
    for (const attachment of this.#attachments.values()) attachment.unit.detach(attachment);
    this.#attachments.clear();
    this.#early.clear();
    return this.#ended;
  }
}
