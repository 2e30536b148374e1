/** One problem of an input: the field as a dotted path, a fixed code word, and a sentence. */
export interface FieldError {
  field: string
  code: string
  message: string
}

const kinds = {
  invalid: { status: 400, type: 'ValidationException', message: 'The request is not valid.' },
  'not-logged-in': { status: 403, type: 'NotLoggedInException', message: 'Access denied.' },
  forbidden: { status: 403, type: 'PermissionDeniedException', message: 'Access denied.' },
  'not-found': { status: 404, type: 'NotFoundException', message: 'Record not found.' },
  'method-not-allowed': {
    status: 405,
    type: 'HttpMethodNotAllowedException',
    message: 'Method not allowed.'
  },
  conflict: { status: 409, type: 'ConflictException', message: 'The record is in use.' },
  'too-large': { status: 413, type: 'PayloadTooLargeException', message: 'The body is too large.' },
  'wrong-media-type': {
    status: 415,
    type: 'UnsupportedMediaTypeException',
    message: 'The body must be JSON (Content-Type: application/json).'
  },
  'too-many': {
    status: 429,
    type: 'RateLimitExceededException',
    message: 'Too many requests: try again later.'
  },
  'not-implemented': { status: 501, type: 'NotImplementedException', message: 'There is no such thing yet.' },
  unavailable: {
    status: 503,
    type: 'ServiceUnavailableException',
    message: 'The server is full or about to stop: try again later.'
  },
  internal: { status: 500, type: 'InternalErrorException', message: 'A generic exception has occurred.' }
} as const

export type ErrorKind = keyof typeof kinds

/**
 * What a caller of the API may know about a failure. Anything else that is thrown is a bug and answered 500.
 */
export class ApiError extends Error {
  readonly kind: ErrorKind
  readonly status: number
  /** On 400 and 409 with a list `errors`, empty where no field is to blame. */
  readonly extraData: Record<string, unknown>

  constructor(
    kind: ErrorKind,
    message: string = kinds[kind].message,
    extraData: Record<string, unknown> = kind === 'invalid' || kind === 'conflict' ? { errors: [] } : {}
  ) {
    super(message)
    this.kind = kind
    this.status = kinds[kind].status
    this.extraData = extraData
  }

  /** A 400 (or 409) that lists every problem at once; its message is the first problem in words. */
  static ofFields(errors: [FieldError, ...FieldError[]], kind: 'invalid' | 'conflict' = 'invalid'): ApiError {
    return new ApiError(kind, errors[0].message, { errors })
  }
}

/** The same request may succeed after this many whole seconds, sent as `Retry-After`. */
class RetryLater extends ApiError {
  readonly retryAfterSeconds: number

  constructor(kind: 'too-many' | 'unavailable', retryAfterSeconds: number, message?: string) {
    super(kind, message)
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** A limit of this caller is reached. */
export class TooManyRequests extends RetryLater {
  constructor(retryAfterSeconds: number, message?: string) {
    super('too-many', retryAfterSeconds, message)
  }
}

/** A limit of the server is reached, whoever used it up. */
export class Overloaded extends RetryLater {
  constructor(retryAfterSeconds: number, message: string) {
    super('unavailable', retryAfterSeconds, message)
  }
}

/** Postgres or Redis is away. */
export class StoreAway extends RetryLater {
  constructor() {
    super('unavailable', 5, 'A store of this server does not answer: try again in a few seconds.')
  }
}

/** The value of `Retry-After` for an error, in seconds; null if it has none. */
export function retryAfterOf(error: ApiError): number | null {
  return error instanceof RetryLater ? error.retryAfterSeconds : null
}

/**
 * The one error body of the interface. `formatted_message` is HTML, so the message is escaped. The
 * account-level calls answer everything with a `status`.
 */
export function renderError(error: ApiError, { hasStatus = false } = {}): string {
  return JSON.stringify({
    ...(hasStatus ? { status: 'error' } : {}),
    code: error.status,
    type: kinds[error.kind].type,
    message: error.message,
    formatted_message: escapeHtml(error.message),
    extra_data: error.extraData,
    success: false
  })
}

/** Escapes text for HTML content and attributes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, char => `&#${char.charCodeAt(0)};`)
}

/**
 * A fault the person at the terminal can mend: a port in use, a missing program, a wrong URL. Entry files
 * print its message as one line and exit 1.
 */
export class OperatorError extends Error {}

/** A fault that the person at the terminal has been told of: entry files only exit 1. */
export class ReportedError extends Error {}

/** The `code` of an error; empty if it has none. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
