/**
 * How many answers have begun and are not sent, over all of a server's routes: they are waited for before it
 * ends.
 */
export interface InFlight {
  answers: number
}
