import type { Mail } from './sending.ts'

/** Sends mails through an SMTP server. */
export interface Mailer {
  /**
   * `id` names the mail, so that one that comes twice can be told. Gives the server's answer; rejects within
   * `timeoutMs`.
   */
  send(mail: Mail, id: string, timeoutMs: number): Promise<string>
}

/** `url` is `smtp://user:password@host:port`, or `smtps:`; `from` is the sender's address. */
export function openMailer(url: string, from: string): Mailer {
  return {
    async send({ to, subject, text }, id, timeoutMs) {
      // Most installations send no mail.
      const { createTransport } = await import('nodemailer')
      const transport = createTransport({
        url,
        connectionTimeout: Math.min(3_000, timeoutMs),
        greetingTimeout: timeoutMs,
        socketTimeout: timeoutMs,
        disableFileAccess: true,
        disableUrlAccess: true
      })
      // A server that answers a byte now and then would keep the socket from timing out.
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
