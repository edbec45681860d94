import { InterceptingCall, Metadata, status, type Interceptor } from '@grpc/grpc-js';

/**
 * Returns CANCELLED for a call over a closed connection. gRPC throws instead, and the retries of the Temporal SDK run
 * in a timer where nothing catches an error: a retry after `close()` would end the process.
 */
export const refusesAfterClose: Interceptor = (options, nextCall) => {
  try {
    return new InterceptingCall(nextCall(options));
  } catch (error) {
    const details = error instanceof Error ? error.message : 'the connection is closed';
    return new InterceptingCall({
      start(_metadata, listener) {
        listener?.onReceiveMessage?.(null);
        listener?.onReceiveStatus?.({ code: status.CANCELLED, details, metadata: new Metadata() });
      },
      sendMessage: () => undefined,
      sendMessageWithContext: () => undefined,
      startRead: () => undefined,
      halfClose: () => undefined,
      cancelWithStatus: () => undefined,
      getPeer: () => '',
      getAuthContext: () => null,
    });
  }
};
