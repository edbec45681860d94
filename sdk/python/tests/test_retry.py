from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from governed_context_service import CallOptions, ServiceError

from .fake_service import Answer, WithFakeService

#: The tests of the Node client read the same file.
CASES = json.loads((Path(__file__).parents[2] / "retry-cases.json").read_text())


def _error_in(body: Any) -> str:
    return body.get("error", "") if isinstance(body, dict) else ""


class Which(WithFakeService):
    def test_sends_the_same_call_again(self) -> None:
        for case in CASES["answers"]["repeated"]:
            with self.subTest(case=case):
                self.answer(Answer(case["status"], case["body"]), Answer(200, {"topic": "errors"}))
                self.assertEqual(self.client().gateway.docs("errors")["topic"], "errors")
                first, second = self.service.asked
                self.assertEqual((first.method, first.path, first.body), (second.method, second.path, second.body))

    def test_gives_other_refusals_to_the_caller(self) -> None:
        for case in CASES["answers"]["given_to_the_caller"]:
            with self.subTest(case=case):
                self.answer(Answer(case["status"], case["body"], {"Location": f"{self.service.url}/elsewhere"}))
                with self.assertRaises(ServiceError) as caught:
                    self.client().gateway.docs()
                self.assertEqual((caught.exception.status, caught.exception.error), (case["status"], _error_in(case["body"])))
                self.assertEqual((len(self.service.asked), self.waits), (1, []))

    def test_ends_after_five_attempts_or_as_many_as_the_client_or_the_call_says(self) -> None:
        self.answer(Answer(500))
        five, three = self.client(), self.client(max_attempts=3)
        for client, options, attempts in ((five, None, 5), (three, None, 3), (three, CallOptions(max_attempts=1), 1)):
            self.service.asked.clear()
            with self.assertRaises(ServiceError):
                client.gateway.docs(options=options)
            self.assertEqual(len(self.service.asked), attempts)

    def test_repeats_what_would_be_done_twice_after_429_only(self) -> None:
        client = self.client()
        for call in (
            lambda: client.gateway.run_agent("flow", "goal"),
            lambda: client.gateway.save_skill({"name": "skill"}),
            lambda: client.call("post", "/v1/apikeys", body={"project_id": "p1", "name": "key"}),
        ):
            self.answer(Answer(429), Answer(502, {"error": "harness_unreachable"}))
            with self.assertRaises(ServiceError) as caught:
                call()
            self.assertEqual((caught.exception.status, len(self.service.asked)), (502, 2))


class Never(WithFakeService):
    def test_never_repeats_what_is_unconfigured_or_unavailable(self) -> None:
        client = self.client()
        for case in CASES["answers"]["never_repeated"]:
            for call in (client.gateway.docs, client.platform.agentflows.list):
                with self.subTest(case=case, call=call):
                    self.answer(Answer(case["status"], case["body"], {"Retry-After": "1"}))
                    with self.assertRaises(ServiceError) as caught:
                        call()
                    self.assertEqual((caught.exception.status, caught.exception.error), (case["status"], _error_in(case["body"])))
                    self.assertEqual((len(self.service.asked), self.waits), (1, []))


class _Waits(WithFakeService):
    def assert_waits(self, kind: str) -> None:
        for case in CASES["waits"][kind]:
            with self.subTest(case=case):
                headers = {} if case["header"] is None else {"Retry-After": case["header"]}
                self.answer(Answer(429, {"error": "S3:rate-quota"}, headers))
                drawn = iter(case["random"])
                client = self.client(lambda drawn=drawn: next(drawn), lambda: CASES["now"], len(case["random"]) + 1)
                with self.assertRaises(ServiceError):
                    client.gateway.docs()
                self.assertEqual([round(wait, 9) for wait in self.waits], case["seconds"])
                self.assertEqual(len(self.service.asked), len(case["random"]) + 1)


class After(_Waits):
    def test_waits_no_less_than_retry_after_and_up_to_a_second_more(self) -> None:
        self.assert_waits("retry_after")


class FullJitter(_Waits):
    def test_draws_from_a_range_that_doubles_up_to_60_seconds(self) -> None:
        self.assert_waits("full_jitter")
