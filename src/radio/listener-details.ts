import type { ListenerSessionReport } from '../engine/listeners/sessions.ts'
import { type Agent, parseAgent } from './agent-family.ts'
import type { Countries } from './countries.ts'

export type DescribeListener = ListenerSessionReport['describe']

/** Returns a function that finds what may be stored about a listener: program, kind of program and country. */
export const openListenerDescriber =
  (countries: Countries): DescribeListener =>
  ({ address, userAgent }) => {
    const agent = parseAgent(userAgent)
    return { family: agent.family, client: findClientKind(agent), country: countries.find(address) }
  }

function findClientKind({ isBot, isMobile, isBrowser }: Agent): ReturnType<DescribeListener>['client'] {
  if (isBot) return 'bot'
  if (isMobile) return 'mobile'
  return isBrowser ? 'desktop' : 'non_browser'
}
