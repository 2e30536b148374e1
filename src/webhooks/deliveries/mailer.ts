import type { HookMail } from '../types/delivery-content.ts'

/** Sends mails through an SMTP server. */
export interface Mailer {
  /**
   * Returns the answer of the server; rejects within `timeoutMs`. `id` becomes the message id, by which
   * receivers recognize duplicates.
   */
  send(mail: HookMail, id: string, timeoutMs: number): Promise<string>
}

/** `url` is `smtp://user:password@host:port`, or `smtps:`; `from` is the sender's address. */
export function openMailer(url: string, from: string): Mailer {
  return {
    async send({ to, subject, text }, id, timeoutMs) {
      // Loaded on demand: most installations send no mail.
      const { createTransport } = await import('nodemailer')
      const transport = createTransport({
        url,
        connectionTimeout: Math.min(3_000, timeoutMs),
        greetingTimeout: timeoutMs,
        socketTimeout: timeoutMs,
        disableFileAccess: true,
        disableUrlAccess: true
      })
      // A server that answers byte by byte would reset the socket's timeout forever.
      const timer = setTimeout(() => transport.close(), timeoutMs)
      try {
        const domain = from.split('@').at(-1)?.replace(/>.*/, '') ?? 'localhost'
        const { response } = await transport.sendMail({
          from,
          to: [...to],
          subject,
          text,
          messageId: `<${id}@${domain}>`,
          headers: { 'Auto-Submitted': 'auto-generated' }
        })
        return response
      } finally {
        clearTimeout(timer)
        transport.close()
      }
    }
  }
}
