import type { ListenerSessionReport } from '../engine/listeners/sessions.ts'
import type { CountryFinder } from './countries.ts'
import { type AgentDetails, parseUserAgent } from './user-agent.ts'

export type DescribeListener = ListenerSessionReport['describe']

/** Returns a function that finds what may be stored about a listener: program, kind of program and country. */
export const openListenerDescriber =
  (countries: CountryFinder): DescribeListener =>
  ({ address, userAgent }) => {
    const agent = parseUserAgent(userAgent)
    return { family: agent.family, client: findClientKind(agent), country: countries.find(address) }
  }

function findClientKind({
  isBot,
  isMobile,
  isBrowser
}: AgentDetails): ReturnType<DescribeListener>['client'] {
  if (isBot) return 'bot'
  if (isMobile) return 'mobile'
  return isBrowser ? 'desktop' : 'non_browser'
}
