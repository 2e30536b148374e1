/** An HTTP request of a web hook. */
export interface HookRequest {
  readonly method: 'GET' | 'POST'
  readonly url: string
  /** The URL without secrets, user and query, for logs. */
  readonly redactedUrl: string
  /** Names are in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** For the whole request. */
  readonly timeoutMs?: number
}

/** A text mail to all recipients. */
export interface HookMail {
  readonly to: readonly string[]
  readonly subject: string
  readonly text: string
}

/** What is sent for an event. */
export type DeliveryContent =
  /** Sent in order; each only after the one before it was accepted. */
  | { readonly kind: 'requests'; readonly requests: readonly HookRequest[] }
  /**
   * The same within a session. `requestsIn` parses the body of the answer to `open`, and throws if it is
   * invalid. That answer contains credentials and must not be stored.
   */
  | {
      readonly kind: 'session'
      readonly open: HookRequest
      readonly requestsIn: (response: string) => readonly HookRequest[]
    }
  | { readonly kind: 'mail'; readonly mail: HookMail }
  /** Nothing is to be sent; the reason is a sentence for operators. */
  | { readonly kind: 'nothing'; readonly reason: string }

export const httpDeliveryContent = (...list: readonly HookRequest[]): DeliveryContent => ({
  kind: 'requests',
  requests: list
})
export const noDeliveryContent = (reason: string): DeliveryContent => ({ kind: 'nothing', reason })

/** The reason not to send a text without visible characters. */
export const emptyMessageReason = 'The message is empty.'

/** A request with a JSON body. */
export function jsonPostRequest(
  url: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {}
): HookRequest {
  return {
    method: 'POST',
    url,
    redactedUrl: stripUrlSecrets(url),
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body)
  }
}

/** A request with its parameters in the query. */
export function queryGetRequest(url: string, parameters: Readonly<Record<string, string>>): HookRequest {
  return {
    method: 'GET',
    url: `${url}?${encodeQuery(parameters)}`,
    redactedUrl: stripUrlSecrets(url),
    headers: {}
  }
}

/** Encodes a query; blanks are `%20`, which every server reads. */
export function encodeQuery(parameters: Readonly<Record<string, string>>): string {
  return new URLSearchParams(parameters).toString().replaceAll('+', '%20')
}

/** A URL without user, query and fragment, which may be secret. */
export function stripUrlSecrets(url: string): string {
  const { origin, pathname } = new URL(url)
  return origin + pathname
}

/** Appends a path to a base URL, with or without a slash at its end; keeps its query. */
export function appendUrlPath(base: string, path: string): string {
  return stripUrlSecrets(base).replace(/\/+$/, '') + path + new URL(base).search
}
