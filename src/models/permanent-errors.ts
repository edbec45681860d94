/**
 * Words of errors that the same request meets again, whatever their status. Gateways report the errors of other servers
 * with statuses of their own, and many endpoints report an empty account as a rate limit.
 */
const always: readonly RegExp[] = [
  // the account
  /insufficient[_ ](user[_ ])?(quota|balance|credits?|funds)/,
  /exceeded_current_quota|billing_(hard_limit|not_active)|billing[_ ]error|payment[_ ]required/,
  /credit balance is too low|not enough (credits?|balance|funds)|out of credits|account ?overdue|arrearage|in arrears/,
  /余额不足|欠费|额度不足|无可用资源包/,
  /account (is |has been )?(not active|deactivated|suspended|disabled|terminated|blocked)/,
  /budget[_ ](has been )?exceeded|exceeded[_ ]?budget|over budget|spend(ing)?[_ ]limit/,
  /quota exceeded for .{0,200}\blimit: 0\b|per-day\b|perday\b/,
  // the key
  /invalid[_ ]api[_ ]?key|incorrect api key|api[_ ]key[_ ](is |was )?(not[_ ]valid|invalid|missing|expired|not[_ ]found)/,
  /deploymentnotfound/,
  /invalid x-api-key|authentication[_ ]?(error|fails|failed)|no auth credentials|api key (was )?(not )?provided/,
  // the length
  /context[_ ]?length[_ ]?exceeded|context ?window ?exceeded|maximum context length|exceed_context_size/,
  /(exceeds?|exceeded|larger than|longer than|beyond) .{0,60}context (window|size|length)|context the overflows/,
  /context (size|window|length) (has been |was |is )?exceeded|(prompt|input|conversation) is too long|input too long/,
  /string_above_max_length|request too large|token count .{0,60}exceeds|reduce (the|your) (length|prompt|input)/,
  /上下文.{0,10}(超|过长)|too many (input )?tokens/,
  // filters
  /content[_ ]filter|content[_ ]policy|contentpolicy|responsibleaipolicy|content management policy/,
  /content exists risk|data_?inspection_?failed|data_inspection|inappropriate content|prohibited_content/,
  /(blocked|rejected|flagged) .{0,60}(safety|moderation|policy|filter)|moderation (blocked|failed)|敏感|不安全/,
  // what the model cannot do
  /does not support tools?\b|tool (use|calling) is not supported|support tool use/,
];

/** As above, unless the error also says that the endpoint is only busy. */
const unlessBusy: readonly RegExp[] = [
  /exceeded (your|the) (current |monthly |account )?(quota|usage)|check your plan and billing|quota[_ ]?exceeded/,
  /(usage|monthly|hard|free tier) limit/,
  /unauthorized|permission[_ ]?(denied|error)|forbidden|access denied|(api )?key (is )?(disabled|revoked|suspended)/,
  /model[_ ]?not[_ ]?found|no such model|unknown model|invalid model|deploymentnotfound|not a valid model/,
  /model .{0,120}(does not exist|not found|is not supported|not available|deprecated|decommissioned|not exist)/,
  /no endpoints found|no models? loaded|litellm\.(badrequest|notfound|permissiondenied|unsupportedparams)error/,
];

/** Words of an endpoint that is busy, also with a status that says otherwise. */
const busy = /rate[_ -]?limit|too many requests|overload|temporarily|capacity|currently loading|is loading/;
/** Words of errors that may pass, if the status agrees. */
const passing =
  /\b(try|retry|wait)\b.{0,30}\b(in|after|later|shortly|again|moment)\b|per[_ ]?(minute|second|hour)|perminute|\b(rpm|tpm|rpd|tpd|rps)\b|temporar|\bbusy\b/;

/** Refusals of a request that the same request may not meet again, because the model writes differently each time. */
const oncePerAnswer = /tool_use_failed|failed to call a function|tool call validation failed|malformed[_ ]function/;

export type Outlook = 'permanent' | 'busy' | 'passing' | 'by chance' | 'unclear';

/** Judges an error by its words, in lower case. */
export function outlookOf(words: string): Outlook {
  if (oncePerAnswer.test(words)) return 'by chance';
  if (always.some((pattern) => pattern.test(words))) return 'permanent';
  if (busy.test(words)) return 'busy';
  if (passing.test(words)) return 'passing';
  return unlessBusy.some((pattern) => pattern.test(words)) ? 'permanent' : 'unclear';
}
