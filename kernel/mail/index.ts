export { EventMailer, mailFromNowOn, type EventMail, type EventMailerOptions } from './event-mailer.ts';
export { oneLine, subjectLine, writeNotice, type Mail, type MailedEvent } from './notice.ts';
export { checkMailAddress, checkMailServer, isMailAddress, readRecipients } from './rules.ts';
export { letterFile, sendBySmtp, type Letter, type MailServer } from './smtp.ts';
