/** An HTTP request as it goes out. */
export interface HookRequest {
  readonly method: 'GET' | 'POST'
  readonly url: string
  /** What may be written down of the address: nothing secret, no user, no query. */
  readonly shownUrl: string
  /** Names are in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** For all of it; without it as long as requests are given by default. */
  readonly timeoutMs?: number
}

/**
 * A text mail, as one message to all. A sender that makes its message id of the event's id makes repetitions
 * harmless.
 */
export interface Mail {
  readonly to: readonly string[]
  readonly subject: string
  readonly text: string
}

/** What is to be sent for an event. */
export type Sending = Requests | WithSession | MailSending | NothingToSend

/** One after the other; each only once the one before it has arrived. */
export interface Requests {
  readonly kind: 'requests'
  readonly requests: readonly HookRequest[]
}

/**
 * Likewise, within a session that is opened first: `requestsIn` reads its answer's body and throws if it is
 * none. That answer is a key to the account, and nothing of it may be kept.
 */
export interface WithSession {
  readonly kind: 'session'
  readonly open: HookRequest
  readonly requestsIn: (answer: string) => readonly HookRequest[]
}

export interface MailSending {
  readonly kind: 'mail'
  readonly mail: Mail
}

/** The event is none for this hook; the reason is a sentence for operators. */
export interface NothingToSend {
  readonly kind: 'nothing'
  readonly reason: string
}

export const requests = (...list: readonly HookRequest[]): Requests => ({ kind: 'requests', requests: list })
export const nothing = (reason: string): NothingToSend => ({ kind: 'nothing', reason })

/** Why nothing is sent where a text shows nothing. */
export const emptyMessage = 'The message is empty.'

/** A request with an object as its body. */
export function jsonPost(
  url: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {}
): HookRequest {
  return {
    method: 'POST',
    url,
    shownUrl: bareUrl(url),
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body)
  }
}

/** A request whose parameters are in its address. */
export function queryGet(url: string, parameters: Readonly<Record<string, string>>): HookRequest {
  return { method: 'GET', url: `${url}?${queryOf(parameters)}`, shownUrl: bareUrl(url), headers: {} }
}

/** Parameters as the query of an address: blanks are `%20`, which every server reads. */
export function queryOf(parameters: Readonly<Record<string, string>>): string {
  return new URLSearchParams(parameters).toString().replaceAll('+', '%20')
}

/** An address without user, query and fragment, which may be secret. */
export function bareUrl(url: string): string {
  const { origin, pathname } = new URL(url)
  return origin + pathname
}

/** An address below one that an operator gave, with or without a slash at its end; its query stays. */
export function addressBelow(address: string, path: string): string {
  return bareUrl(address).replace(/\/+$/, '') + path + new URL(address).search
}
