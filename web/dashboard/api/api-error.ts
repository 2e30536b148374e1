/** A request that failed. The message is plain text for users. */
export class ApiRequestError extends Error {
  /** The HTTP status; 0 if no readable response arrived. */
  readonly status: number
  /** Whether the request had no key or an invalid one. */
  readonly isUnauthenticated: boolean
  /** The problems of single fields of the body. */
  readonly fieldErrors: readonly FieldProblem[]

  constructor(
    message: string,
    status = 0,
    isUnauthenticated = false,
    fieldErrors: readonly FieldProblem[] = []
  ) {
    super(message)
    this.status = status
    this.isUnauthenticated = isUnauthenticated
    this.fieldErrors = fieldErrors
  }
}

/** A problem of one field. `field` is its dotted path in the body, with which the message begins. */
export interface FieldProblem {
  readonly field: string
  readonly message: string
}

/** Names the field in a problem as the form does: `url must not be empty.` is `URL must not be empty.` */
export const describeProblem = (label: string, { field, message }: FieldProblem): string =>
  message.startsWith(`${field} `) ? label + message.slice(field.length) : message

/** Parses an error response. `formatted_message` is HTML and is ignored. */
export function parseErrorResponse(
  status: number,
  body: unknown,
  retryAfter: string | null
): ApiRequestError {
  const { message, type, extra_data: data } = Object(body)
  if (typeof message !== 'string')
    return new ApiRequestError(`The server returned an error (${status}).`, status)
  const seconds = Number(retryAfter)
  if (status === 429 && seconds > 0)
    return new ApiRequestError(`Too many requests. Try again in ${seconds} seconds.`, status)
  const isUnauthenticated = type === 'NotLoggedInException'
  if (status === 403 && !isUnauthenticated)
    return new ApiRequestError('You do not have permission to do that.', status)
  return new ApiRequestError(
    message,
    status,
    isUnauthenticated,
    Array.isArray(data?.errors) ? data.errors : []
  )
}

/** Whether an error says that the server has refused a request; otherwise it may have carried it out. */
export const isRefusedRequest = ({ status }: ApiRequestError): boolean => status >= 400 && status < 500

/** Converts whatever was thrown; anything but an `ApiRequestError` counts as an unreachable server. */
export const toApiRequestError = (error: unknown): ApiRequestError =>
  error instanceof ApiRequestError ? error : new ApiRequestError('The server cannot be reached.')
